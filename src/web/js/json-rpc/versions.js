/**
 * What the versions of MCP have, the oldest first.
 * Written by a test, from `src/dialect/mcp.rs`.
 */
export const VERSIONS = [
  { name: '2024-11-05', sessions: true, batches: false, audio: false, structure: false },
  { name: '2025-03-26', sessions: true, batches: true, audio: true, structure: false },
  { name: '2025-06-18', sessions: true, batches: false, audio: true, structure: true },
  { name: '2025-11-25', sessions: true, batches: false, audio: true, structure: true },
  { name: '2026-07-28', sessions: false, batches: false, audio: true, structure: true },
];

/** Messages in one array. */
export const MAX_BATCH = 32;
