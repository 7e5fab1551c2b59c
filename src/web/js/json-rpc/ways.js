/**
 * How each dialect cancels a request, and whether the request is still answered.
 * Written by a test, from `src/dialect/json_rpc.rs`.
 */

export const MAX_REASON = 1024;

export const WAYS = [
  { dialect: 'ACP draft', method: '$/cancelRequest', id: 'id', reason: false, answered: true },
  { dialect: 'ACP v1', method: '$/cancel_request', id: 'requestId', reason: false, answered: true },
  { dialect: 'LSP 3.17', method: '$/cancelRequest', id: 'id', reason: false, answered: true },
  { dialect: 'MCP 2025-11-25', method: 'notifications/cancelled', id: 'requestId', reason: true, answered: false },
  { dialect: 'MCP 2026-07-28', method: 'notifications/cancelled', id: 'requestId', reason: true, answered: false },
];
