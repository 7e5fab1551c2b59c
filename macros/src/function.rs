//! The function that the attribute turns into a capability.

use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, FnArg, ItemFn, Lit, Meta, ReturnType, Type};

const SHAPE: &str = "a capability takes its parameters as one struct, and then its `CallContext`; either may be left out: `async fn export(params: Params, context: CallContext)`";

const NO_OBJECT: &str =
    "parameters are an object: take a struct, whose fields are what callers name";

/// The parameters and the result of a capability.
pub struct Signature {
    pub params: Option<Type>,
    pub context: bool,
    pub result: Type,
    pub is_async: bool,
}

impl Signature {
    /// Reports all errors of a function together.
    pub fn of(function: &ItemFn) -> syn::Result<Self> {
        let mut problems = Problems(None);
        let signature = &function.sig;
        if !signature.generics.params.is_empty() {
            problems.add(
                &signature.generics,
                "a capability has no generic parameters: agents call one function",
            );
        }
        let mut inputs = signature.inputs.iter().peekable();
        let params = inputs
            .next_if(|it| !is_context(it))
            .and_then(|it| match it {
                FnArg::Typed(params) => Some((*params.ty).clone()),
                FnArg::Receiver(receiver) => {
                    problems.add(
                        receiver,
                        "a capability cannot be a method: it is a function of its own",
                    );
                    None
                }
            });
        if let Some(Type::Reference(reference)) = &params {
            problems.add(
                reference,
                "a capability owns its parameters: take them by value, not by reference",
            );
        }
        if let Some(params) = params.as_ref().filter(|it| is_no_object(it)) {
            problems.add(params, NO_OBJECT);
        }
        let context = inputs.next_if(|it| is_context(it)).is_some();
        if let Some(more) = inputs.next() {
            problems.add(more, SHAPE);
        }
        let result = match &signature.output {
            ReturnType::Type(_, result) => Some((**result).clone()),
            ReturnType::Default => {
                problems.add(
                    &signature.ident,
                    "a capability returns a `Result`, such as `Result<(), caphost::Error>`",
                );
                None
            }
        };
        match (problems.0, result) {
            (None, Some(result)) => Ok(Signature {
                params,
                context,
                result,
                is_async: signature.asyncness.is_some(),
            }),
            (Some(problem), _) => Err(problem),
            (None, None) => unreachable!("that is a problem"),
        }
    }
}

struct Problems(Option<syn::Error>);

impl Problems {
    fn add(&mut self, at: &impl Spanned, problem: &str) {
        let problem = syn::Error::new(at.span(), problem);
        match &mut self.0 {
            Some(problems) => problems.combine(problem),
            None => self.0 = Some(problem),
        }
    }
}

/// Whether the parameters are no object, as far as a macro can tell. The registration of the capability
/// refuses other wrong types.
fn is_no_object(params: &Type) -> bool {
    const SCALARS: [&str; 17] = [
        "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16",
        "u32", "u64", "u128", "usize", "String",
    ];
    match params {
        Type::Tuple(_) | Type::Array(_) => true,
        Type::Path(path) => {
            let name = path.path.get_ident();
            name.is_some_and(|it| SCALARS.iter().any(|scalar| it == scalar))
        }
        _ => false,
    }
}

/// Whether the argument is the context, as far as a macro can tell: it decides by the name of the type.
fn is_context(argument: &FnArg) -> bool {
    let FnArg::Typed(argument) = argument else {
        return false;
    };
    let Type::Path(path) = &*argument.ty else {
        return false;
    };
    let last = path.path.segments.last();
    last.is_some_and(|it| it.ident == "CallContext")
}

/// The text of the doc comments, with one line per paragraph.
pub fn documentation(attributes: &[Attribute]) -> Option<String> {
    let mut text = String::new();
    for attribute in attributes {
        let Meta::NameValue(pair) = &attribute.meta else {
            continue;
        };
        let Expr::Lit(ExprLit {
            lit: Lit::Str(line),
            ..
        }) = &pair.value
        else {
            continue;
        };
        if !pair.path.is_ident("doc") {
            continue;
        }
        match line.value().trim() {
            "" if !text.is_empty() && !text.ends_with('\n') => text.push('\n'),
            line if text.is_empty() || text.ends_with('\n') => text.push_str(line),
            line => text.extend([" ", line]),
        }
    }
    let text = text.trim();
    (!text.is_empty()).then(|| text.into())
}
