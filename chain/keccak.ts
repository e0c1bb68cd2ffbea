import { createKeccak } from 'hash-wasm'

// One instance for the process: making one costs more than fifty digests. Every digest below is synchronous, so no
// two can interleave.
const hasher = await createKeccak(256)

/** keccak-256 of the parts laid end to end: 32 fresh bytes. */
export function keccak256(...parts: readonly Uint8Array[]): Uint8Array {
  hasher.init()
  for (const part of parts) hasher.update(part)
  return hasher.digest('binary')
}

/** keccak-256 of text in UTF-8. */
export const keccakText = (text: string): Uint8Array => keccak256(Buffer.from(text, 'utf8'))
