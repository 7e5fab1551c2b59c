/** The part of the npm package's agent that the page uses. */
import type { ABPResponse, CancelResponse, ProgressInfo } from './protocol.js';

export interface CallOptions {
  signal?: AbortSignal;
  timeout?: number;
  callId?: string;
  onProgress?: (info: ProgressInfo) => void;
  transfer?: Transferable[];
}

export interface Agent {
  readonly sessionId: string | null;
  readonly closed: Promise<unknown>;
  call(name: string, params?: unknown, options?: CallOptions): Promise<ABPResponse>;
  cancel(callId: string, reason?: string): Promise<CancelResponse>;
}

export function connectPort(
  port: MessagePort,
  options: { agent: { name: string; version: string } },
): Promise<Agent>;
