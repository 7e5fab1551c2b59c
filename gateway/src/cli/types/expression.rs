//! Types put together from types.

/// A type, and how loosely it holds together.
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

/// Each of them once.
pub(super) fn either(options: Vec<Type>) -> Type {
    let mut kept: Vec<Type> = Vec::new();
    for option in options {
        match option.text() {
            "unknown" => return option,
            "never" => {}
            _ if kept.contains(&option) => {}
            _ => kept.push(option),
        }
    }
    match kept.len() {
        0 => Type::plain("never"),
        1 => kept.remove(0),
        _ => {
            let texts: Vec<_> = kept.iter().map(Type::text).collect();
            Type::Either(texts.join(" | "))
        }
    }
}

/// All of them at once.
pub(super) fn both(parts: Vec<Type>) -> Type {
    let mut kept: Vec<Type> = Vec::new();
    for part in parts {
        if part.text() != "unknown" && !kept.contains(&part) {
            kept.push(part);
        }
    }
    match kept.len() {
        0 => Type::plain("unknown"),
        1 => kept.remove(0),
        _ => {
            let texts: Vec<_> = kept.iter().map(Type::in_both).collect();
            Type::Both(texts.join(" & "))
        }
    }
}
