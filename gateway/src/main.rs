//! The `caphost` command.

/// A broker makes many small allocations, often on one thread, and frees them on another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    caphost_gateway::cli::main()
}
