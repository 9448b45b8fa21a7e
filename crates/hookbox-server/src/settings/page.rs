//! The page of all settings.

use super::{SETTINGS, source};

/// The page `docs/settings.md`.
#[must_use]
pub fn page() -> String {
    let mut page = String::from(
        "# Settings\n\nA file, `hookbox.toml` or what `HOOKBOX_CONFIG` names, is overruled by the environment, and that \
         by flags. An unknown name\nin the file is an error. A secret may also stand in a file of its own, named by its \
         variable with `_FILE` behind it.\n\n| in the file | in the environment | default | |\n|---|---|---|---|\n",
    );
    for setting in SETTINGS {
        let default = if setting.default.is_empty() {
            String::new()
        } else {
            format!("`{}`", setting.default)
        };
        page += &format!(
            "| `{}` | `{}` | {default} | {} |\n",
            setting.name,
            setting.variable(),
            setting.about
        );
    }
    page + source::PAGE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_settings_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md");
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(
            written,
            page(),
            "run `cargo run -- settings --markdown > docs/settings.md`"
        );
    }
}
