//! The output of the attribute: the function itself, and a type of the same name that registers it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ItemFn;
use syn::spanned::Spanned;

use crate::function::{Signature, documentation};
use crate::options::Options;

pub fn capability(options: TokenStream, item: TokenStream) -> TokenStream {
    let function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(_) => {
            let problem = syn::Error::new_spanned(item, "only a function is a capability");
            return problem.into_compile_error();
        }
    };
    // The function stays in the output beside the errors, so that the compiler reports nothing else
    // as missing.
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
        is_async,
    } = Signature::of(function)?;

    let (visibility, ident) = (&function.vis, &function.sig.ident);
    let name = match &options.name {
        Some(name) => name.value(),
        None => unraw(ident),
    };
    let title = options.title.map(|it| quote!(.title(#it)));
    let description = match options.description {
        Some(description) => Some(description.value()),
        None => documentation(&function.attrs),
    };
    let description = description.map(|it| quote!(.description(#it)));
    let concurrency = options.concurrency.map(|it| quote!(.concurrency(#it)));
    let confirm = options
        .confirm
        .map(|it| quote!(.confirm(::caphost::Confirm::#it)));
    let hints = options.hints.iter().map(|(hint, is)| quote!(.#hint(#is)));
    let at = |part: &dyn Spanned| Span::call_site().located_at(part.span());
    let input = params.as_ref().map(|params| {
        quote_spanned! {at(params)=>
            let it = (&&Described::<#params>::HERE).input(it);
        }
    });
    let data = quote_spanned!(at(&result)=> <#result as ::caphost::__private::Returned>::Data);
    let output = quote_spanned! {at(&result)=>
        let it = (&&Described::<#data>::HERE).output(it);
    };

    let given = match &params {
        Some(params) => quote!(#params),
        None => quote!(::caphost::__private::NoParams),
    };
    let mut arguments = Vec::<Ident>::new();
    arguments.extend(params.is_some().then(|| format_ident!("params")));
    arguments.extend(context.then(|| format_ident!("context")));
    let awaited = is_async.then(|| quote!(.await));
    let work = quote_spanned! {at(&result)=> {
        let _ = (&params, &context);
        ::caphost::__private::Returned::result(#ident(#(#arguments),*) #awaited).map_err(|error| {
            use ::caphost::__private::{Boxed as _, Neither as _, Own as _};
            (&&&::caphost::__private::Failed::new(error)).into_error()
        })
    }};
    let (run, serve) = match is_async {
        true => (quote!(async move #work), quote!(serve)),
        false => (work, quote!(serve_sync)),
    };
    let run = quote!(|params: #given, context: ::caphost::CallContext| #run);
    // In the page, a plain `fn` would hold the thread, and no cancel could reach it.
    let register = is_async.then(|| {
        quote! {
            /// Registers the capability with a host.
            pub fn register(
                host: &::caphost::Host,
            ) -> ::core::result::Result<(), ::caphost::Error> {
                host.register(Self::capability(), #run)
            }
        }
    });
    let about = format!("The capability `{name}`.");

    Ok(quote! {
        #[doc = #about]
        #[allow(non_camel_case_types)]
        #visibility enum #ident {}

        #[allow(dead_code)]
        impl #ident {
            /// The description for agents.
            pub fn capability() -> ::caphost::Capability {
                use ::caphost::__private::{Described, WithSchema as _, WithoutSchema as _};
                let it = ::caphost::Capability::new(#name) #title #description #concurrency #confirm #(#hints)*;
                #input
                #output
                it
            }

            #register

            /// Runs the capability's calls in a worker, whose page offers the capability with
            /// `Host::register_worker`.
            pub fn serve() {
                ::caphost::worker::#serve(#name, #run);
            }
        }
    })
}

fn unraw(ident: &Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").unwrap_or(&name).into()
}
