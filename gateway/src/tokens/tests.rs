use super::*;

fn tokens(texts: &[&str]) -> Tokens {
    Tokens::new(texts.iter().map(|text| text.parse().unwrap()).collect())
}

#[test]
fn a_secret_counts_for_its_own_role_only() {
    let tokens = tokens(&["app=one", "agent=two"]);
    assert!(tokens.identify(Role::App, ["one"]).is_ok());
    assert!(tokens.identify(Role::Agent, ["one", "two"]).is_ok());
    assert_eq!(
        tokens.identify(Role::Agent, ["one"]),
        Err(Denied::Forbidden)
    );
    assert_eq!(tokens.identify(Role::App, []), Err(Denied::Missing));
    assert_eq!(
        tokens.identify(Role::App, ["on", "onee", ""]),
        Err(Denied::Missing)
    );
}

#[test]
fn an_admin_may_do_everything() {
    let tokens = tokens(&["admin=root"]);
    for role in [Role::App, Role::Agent, Role::Admin] {
        let identity = tokens.identify(role, ["root"]).unwrap();
        assert!(identity.is_admin());
        assert_eq!(&*identity.name, "admin-0");
    }
}

#[test]
fn a_secret_with_two_roles_has_both() {
    let tokens = tokens(&["app=same", "agent=same"]);
    for role in [Role::App, Role::Agent] {
        assert_eq!(tokens.identify(role, ["same"]).unwrap().role, role);
    }
}

#[test]
fn of_several_bearers_the_first_that_may_counts() {
    let tokens = tokens(&["app=a", "agent=b", "agent=a", "admin=c"]);
    let name = |wanted, presented: &[&str]| {
        let identity = tokens.identify(wanted, presented.iter().copied());
        identity.map(|it| it.name.to_string())
    };
    assert_eq!(name(Role::Agent, &["a", "b"]).as_deref(), Ok("agent-2"));
    assert_eq!(name(Role::Agent, &["c", "b"]).as_deref(), Ok("admin-3"));
    assert_eq!(name(Role::App, &["b", "a"]).as_deref(), Ok("app-0"));
    assert_eq!(name(Role::Admin, &["a", "b"]), Err(Denied::Forbidden));
    assert_eq!(name(Role::Admin, &["wrong"]), Err(Denied::Missing));
}

#[test]
fn a_token_may_be_for_one_app() {
    let tokens = tokens(&["agent@shop=s", "agent@desk=d", "admin@shop=a"]);
    let shop = tokens.identify(Role::Agent, ["s"]).unwrap();
    let desk = tokens.identify(Role::Agent, ["d"]).unwrap();
    assert!(shop.may_reach("shop") && !shop.may_reach("desk"));
    assert!(shop.may_see(&shop, Some("shop")) && !shop.may_see(&desk, Some("shop")));
    let admin = tokens.identify(Role::Admin, ["a"]).unwrap();
    assert!(admin.may_see(&shop, Some("shop")) && !admin.may_see(&desk, Some("desk")));
    assert!(
        !admin.may_see(&desk, None),
        "it may turn out to be another app's"
    );
}

#[test]
fn a_name_brings_what_its_token_brings() {
    let tokens = tokens(&["admin=r", "agent@shop=s"]);
    assert_eq!(
        tokens.named("admin-0"),
        tokens.identify(Role::Admin, ["r"]).unwrap()
    );
    assert_eq!(
        tokens.named("agent-1"),
        tokens.identify(Role::Agent, ["s"]).unwrap()
    );
    for unknown in ["admin-1", "agent-0", "agent-7", "anyone", "admin", ""] {
        let identity = tokens.named(unknown);
        assert_eq!((identity.role, &*identity.name), (Role::Agent, unknown));
    }
    assert_eq!(Tokens::default().named("anyone"), Identity::anyone());
    assert!(!Tokens::default().named("admin-0").is_admin());
}

#[test]
fn a_short_secret_is_found_and_not_told() {
    assert!(tokens(&["agent=0123456789abcdef"]).check_secrets().is_ok());
    let short = tokens(&["agent=0123456789abcdef", "app@shop=0123456789abcde"]);
    let said = short.check_secrets().unwrap_err();
    assert!(
        said.contains("app@shop=…") && !said.contains("012"),
        "{said}"
    );
}

#[test]
fn without_tokens_everybody_is_allowed() {
    let identity = Tokens::default().identify(Role::Admin, []).unwrap();
    assert_eq!(identity, Identity::anyone());
}

#[test]
fn a_token_is_a_role_and_a_secret() {
    assert!("agent=a=b".parse::<Token>().is_ok());
    for bad in ["agent", "agent=", "king=x", "=x", "", "agent@=x"] {
        assert!(bad.parse::<Token>().is_err(), "{bad}");
    }
    let token = "app@shop=hidden".parse::<Token>().unwrap();
    assert_eq!(format!("{token:?}"), "app@shop=…");
}
