//! Types that are composed of other types.

/// A type, and how strongly its parts bind.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Type {
    Plain(String),
    Both(String),
    Either(String),
}

impl Type {
    pub fn plain(text: impl Into<String>) -> Self {
        Type::Plain(text.into())
    }

    pub fn text(&self) -> &str {
        let (Type::Plain(text) | Type::Both(text) | Type::Either(text)) = self;
        text
    }

    pub fn in_array(&self) -> String {
        match self {
            Type::Plain(text) => text.clone(),
            Type::Both(text) | Type::Either(text) => format!("({text})"),
        }
    }

    pub fn in_both(&self) -> String {
        match self {
            Type::Plain(text) | Type::Both(text) => text.clone(),
            Type::Either(text) => format!("({text})"),
        }
    }
}

/// The union of the types.
pub(super) fn either(options: Vec<Type>) -> Type {
    if options.iter().any(|it| it.text() == "unknown") {
        return Type::plain("unknown");
    }
    let each = |it: &Type| it.text().to_string();
    joined(options, "never", each, " | ", Type::Either)
}

/// The intersection of the types.
pub(super) fn both(parts: Vec<Type>) -> Type {
    joined(parts, "unknown", Type::in_both, " & ", Type::Both)
}

/// Joins the types, each once, without the type that has no effect here.
fn joined(
    types: Vec<Type>,
    nothing: &str,
    each: impl Fn(&Type) -> String,
    between: &str,
    whole: fn(String) -> Type,
) -> Type {
    let mut kept: Vec<Type> = Vec::new();
    for it in types {
        if it.text() != nothing && !kept.contains(&it) {
            kept.push(it);
        }
    }
    match kept.len() {
        0 => Type::plain(nothing),
        1 => kept.remove(0),
        _ => whole(kept.iter().map(each).collect::<Vec<_>>().join(between)),
    }
}
