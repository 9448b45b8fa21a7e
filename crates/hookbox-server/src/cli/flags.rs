//! Flags of settings, made from their table: nothing about a setting is said twice.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use clap::{Arg, ArgMatches, Args, FromArgMatches};

use crate::settings::{Command, SETTINGS, Setting};

/// The flags that a command knows, as they were given.
#[derive(Debug)]
pub(super) struct Flags<C> {
    /// By the name of the setting.
    pub(super) given: BTreeMap<&'static str, String>,
    of: PhantomData<C>,
}

/// Tells which command it is.
pub(super) trait Of {
    const COMMAND: Command;
}

macro_rules! of {
    ($name:ident, $command:ident) => {
        #[derive(Debug)]
        pub(super) struct $name;

        impl Of for $name {
            const COMMAND: Command = Command::$command;
        }
    };
}

of!(Serving, Serve);
of!(Migrating, Migrate);
of!(Examining, Doctor);
of!(Calling, Call);

/// The settings that have a flag of this command, and its name.
fn known(command: Command) -> impl Iterator<Item = (&'static Setting, &'static str)> {
    SETTINGS.iter().filter_map(move |setting| {
        let (flag, of) = setting.flag?;
        of.contains(&command).then_some((setting, flag))
    })
}

fn arg(setting: &Setting, flag: &'static str, command: Command) -> Arg {
    let default = match setting.default {
        "" => String::new(),
        default => format!(" [default: {default}]"),
    };
    let about = setting.about.trim_end_matches('.').replace('`', "");
    let warning = match setting.secret {
        true => "; better not as a flag, which others may see",
        false => "",
    };
    // Named as the flag: a verb may have an argument that is named as the setting.
    let arg = Arg::new(flag)
        .long(flag)
        .value_name("VALUE")
        .help(format!(
            "{about}{warning} [env: {}]{default}",
            setting.variable()
        ))
        .global(command == Command::Call);
    if setting.default == "false" {
        arg.num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
    } else {
        arg
    }
}

impl<C: Of> Args for Flags<C> {
    fn augment_args(command: clap::Command) -> clap::Command {
        known(C::COMMAND).fold(command, |command, (setting, flag)| {
            command.arg(arg(setting, flag, C::COMMAND))
        })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl<C: Of> FromArgMatches for Flags<C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = known(C::COMMAND).filter_map(|(setting, flag)| {
            let value = matches.get_one::<String>(flag)?;
            Some((setting.name, value.clone()))
        });
        Ok(Self {
            given: given.collect(),
            of: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use crate::cli::Cli;

    /// No verb has an argument of a global flag's name: one would take the value of the other.
    #[test]
    fn flags_that_all_verbs_know_are_no_verbs_own() {
        fn check(command: &clap::Command, above: &BTreeSet<String>) {
            let ids = |global| {
                let args = command.get_arguments();
                let args = args.filter(move |arg| arg.is_global_set() == global);
                args.map(|arg| arg.get_id().to_string())
            };
            let shared: Vec<_> = ids(false).filter(|id| above.contains(id)).collect();
            assert!(shared.is_empty(), "{}: {shared:?}", command.get_name());
            let above = above.iter().cloned().chain(ids(true)).collect();
            for verb in command.get_subcommands() {
                check(verb, &above);
            }
        }
        let cli = Cli::command();
        cli.clone().debug_assert();
        check(&cli, &BTreeSet::new());
    }
}
