import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { BusUnavailable } from '../../../runtime/bus/bus.js'
import type { StreamCopies, StreamFacts } from '../../../runtime/bus/nats-copies.js'

/** What a copy is on disk for: to be encrypted. */
interface PlainCopyUse<Facts> {
  /** Makes the file; resolves with what is known of it. */
  readonly write: (file: string) => Promise<Facts>
  readonly seal: (facts: Facts, content: AsyncIterable<Uint8Array>) => Promise<void>
}

/** Writes a file that is not encrypted and seals its content. The file is gone when this settles, also where the disk is full. */
export async function throughPlainCopy<Facts>(
  file: string,
  { write, seal }: PlainCopyUse<Facts>,
): Promise<void> {
  try {
    const facts = await write(file)
    const content = createReadStream(file)
    // Who reads it gets the error as well.
    content.on('error', () => undefined)
    try {
      await seal(facts, content)
    } finally {
      content.destroy()
    }
  } finally {
    await rm(file, { force: true })
  }
}

/** Streams are trimmed some minutes apart, so that two attempts should do. */
const ATTEMPTS = 3

/**
 * Copies a stream into a file, and once more when it was trimmed meanwhile: such a copy may begin later than the server has stated, and
 * a restore would refuse it. Throws BusUnavailable when that happens each time.
 */
export async function copyStreamWhole(
  copies: Pick<StreamCopies, 'copy' | 'facts'>,
  name: string,
  file: string,
): Promise<StreamFacts> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const { config, state, chunks } = await copies.copy(name)
    await pipeline(chunks, createWriteStream(file, { mode: 0o600 }))
    // Claims expire at any moment; a restore does not compare where they begin.
    if (name.startsWith('KV_')) return { config, state }
    const { state: now } = await copies.facts(name)
    // The server states 0 for the beginning of an empty stream.
    if (now.first_seq <= Math.max(state.first_seq, 1)) return { config, state }
  }
  throw new BusUnavailable(`${name} was trimmed during each of ${ATTEMPTS} copies: try again`)
}
