//! What a function with the attribute becomes: itself, and a type of the same name that registers it.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ItemFn;
use syn::spanned::Spanned;

use crate::function::{Signature, documentation};
use crate::options::Options;

pub fn capability(options: TokenStream, item: TokenStream) -> TokenStream {
    let function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(_) => {
            let problem = syn::Error::new_spanned(item, "only an async function is a capability");
            return problem.into_compile_error();
        }
    };
    // With what is wrong the function stays, so that nothing else is said to be missing.
    let registration =
        registration(options, &function).unwrap_or_else(|problem| problem.into_compile_error());
    quote! {
        #function
        #registration
    }
}

fn registration(options: TokenStream, function: &ItemFn) -> syn::Result<TokenStream> {
    let options = Options::parse(options)?;
    let Signature {
        params,
        context,
        result,
    } = Signature::of(function)?;

    let (visibility, ident) = (&function.vis, &function.sig.ident);
    let name = match &options.name {
        Some(name) => name.value(),
        None => unraw(ident),
    };
    let description = match options.description {
        Some(description) => Some(description.value()),
        None => documentation(&function.attrs),
    };
    let description = description.map(|it| quote!(.description(#it)));
    let concurrency = options.concurrency.map(|it| quote!(.concurrency(#it)));
    let input = params
        .as_ref()
        .map(|params| quote_spanned!(params.span()=> .input_schema_of::<#params>()));
    let data = quote_spanned!(result.span()=> <#result as ::caphost::__private::Returned>::Data);
    let output = quote_spanned!(result.span()=> .output_schema_of::<#data>());

    let given = match &params {
        Some(params) => quote!(#params),
        None => quote!(::caphost::__private::NoParams),
    };
    let mut arguments = Vec::<Ident>::new();
    arguments.extend(params.is_some().then(|| format_ident!("params")));
    arguments.extend(context.then(|| format_ident!("context")));
    let run = quote! {
        |params: #given, context: ::caphost::CallContext| async move {
            let _ = (&params, &context);
            ::caphost::__private::settled(#ident(#(#arguments),*).await)
        }
    };
    let about = format!("The capability `{name}`.");

    Ok(quote! {
        #[doc = #about]
        #[allow(non_camel_case_types)]
        #visibility enum #ident {}

        #[allow(dead_code)]
        impl #ident {
            /// What agents are told of it.
            pub fn capability() -> ::caphost::Capability {
                ::caphost::Capability::new(#name) #description #concurrency #input #output
            }

            /// Has a host offer it.
            pub fn register(
                host: &::caphost::Host,
            ) -> ::core::result::Result<(), ::caphost::Error> {
                host.register(Self::capability(), #run)
            }

            /// Runs its calls in a worker, whose page offers it with `Host::register_worker`.
            pub fn serve() {
                ::caphost::worker::serve(#name, #run);
            }
        }
    })
}

fn unraw(ident: &Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").unwrap_or(&name).into()
}
