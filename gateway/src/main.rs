//! The command line of caphost.

/// A broker allocates a little for every message, often on one thread what another gives back.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    caphost_gateway::cli::main()
}
