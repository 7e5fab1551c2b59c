use super::*;

fn offers(protocols: &str) -> HeaderMap {
    let protocols = HeaderValue::from_str(protocols).unwrap();
    HeaderMap::from_iter([(SEC_WEBSOCKET_PROTOCOL, protocols)])
}

#[test]
fn secrets_come_in_three_ways() {
    let shown = |headers: &HeaderMap, query| {
        shown(headers, query).map(|[secret, another]| {
            assert_eq!(another, None);
            secret.map(Cow::into_owned)
        })
    };
    let secret = |text: &str| Some(text.to_string());
    let mut headers = HeaderMap::new();
    let none = Bearer::of(&Tokens::default(), &headers, Some("app=a"));
    assert!(!none.shows_secret);
    headers.insert(AUTHORIZATION, HeaderValue::from_static("bearer  one"));
    headers.extend(offers("abp, caphost.token.three"));
    let all = [secret("one"), secret("two"), secret("three")];
    assert_eq!(shown(&headers, Some("token=tw%6F&app=a")), all);
    headers.insert(AUTHORIZATION, HeaderValue::from_static("Basic b25l"));
    assert_eq!(shown(&headers, None), [None, None, secret("three")]);
}

#[test]
fn nobody_guesses_a_thousand_secrets_with_one_request() {
    let token = "agent=the-secret-of-an-agent".parse().unwrap();
    let (tokens, open) = (Tokens::new(vec![token]), Tokens::default());
    let is_let_in = |tokens: &Tokens, headers: &HeaderMap, query| {
        let bearer = Bearer::of(tokens, headers, query);
        assert!(bearer.shows_secret);
        bearer.acts_as(Role::Agent).is_ok()
    };
    let right = "caphost.token.the-secret-of-an-agent";
    assert!(is_let_in(&tokens, &offers(right), Some("token=wrong")));
    let guesses: String = (0..1_000)
        .map(|it| format!("caphost.token.{it},"))
        .collect();
    let many = offers(&format!("{guesses}{right}"));
    let mut twice = offers(right);
    twice.append(
        SEC_WEBSOCKET_PROTOCOL,
        HeaderValue::from_static("caphost.token.a"),
    );
    let mut bearers = HeaderMap::new();
    for bearer in ["Bearer the-secret-of-an-agent", "Bearer other"] {
        bearers.append(AUTHORIZATION, HeaderValue::from_static(bearer));
    }
    let query = Some("token=the-secret-of-an-agent&token=other");
    for (headers, query) in [
        (&many, None),
        (&twice, None),
        (&bearers, None),
        (&HeaderMap::new(), query),
    ] {
        assert!(!is_let_in(&tokens, headers, query));
        assert!(is_let_in(&open, headers, query), "there are no tokens");
    }
}
