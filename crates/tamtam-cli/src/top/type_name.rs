//! Names of types, as short as people call them.

/// `my_crate::shop::Till<alloc::string::String>` is `Till<String>`; a function is where it was written.
pub(crate) fn short(name: &str) -> String {
    if let Some(function) = name.strip_prefix("tamtam_actor::actor::Function<") {
        return function_in(function);
    }
    let mut short = String::with_capacity(name.len());
    let mut word = String::new();
    for letter in name.chars() {
        if letter == ':' || letter == '_' || letter.is_alphanumeric() {
            word.push(letter);
        } else {
            short.push_str(last_of(&word));
            word.clear();
            short.push(letter);
        }
    }
    short.push_str(last_of(&word));
    short
}

/// What is behind the last `::`.
fn last_of(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// `M, crate::module::function::{{closure}}>` is `fn in module::function`.
fn function_in(parameters: &str) -> String {
    let place = match parameters.find("::{{closure}}") {
        Some(end) => {
            let begin = parameters[..end]
                .rfind([' ', '<', ','])
                .map_or(0, |before| before + 1);
            &parameters[begin..end]
        }
        None => return "fn".to_owned(),
    };
    let mut words: Vec<_> = place.rsplit("::").take(2).collect();
    words.reverse();
    format!("fn in {}", words.join("::"))
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn paths_are_cut_and_parameters_kept() {
        assert_eq!(short("shop::till::Till"), "Till");
        assert_eq!(
            short("shop::Till<alloc::string::String, [u8; 4]>"),
            "Till<String, [u8; 4]>"
        );
        assert_eq!(short("u8"), "u8");
        assert_eq!(short(""), "");
        assert_eq!(short("&dyn core::fmt::Debug"), "&dyn Debug");
    }

    #[test]
    fn a_function_is_where_it_was_written() {
        let name =
            "tamtam_actor::actor::Function<(u32, alloc::string::String), shop::main::{{closure}}>";
        assert_eq!(short(name), "fn in shop::main");
        assert_eq!(short("tamtam_actor::actor::Function<u8, fn(u8)>"), "fn");
        assert_eq!(short("tamtam_actor::actor::Function<é"), "fn");
    }
}
