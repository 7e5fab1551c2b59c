//! The command line of caphost.

fn main() -> std::process::ExitCode {
    caphost::gateway::command::main()
}
