//! Goes through every interleaving of what agents, a host, its handlers and their channels can do, with
//! the core itself: see `TESTING.md` at the root.
