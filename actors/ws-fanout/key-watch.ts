import { MAX_ASKED_KEYS, type AskedKey } from '../../bus-schemas/owner-accounts.js'
import { hasEnded } from '../../chain/signing/prove-frame.js'
import type { RunningProcess } from '../../runtime/process/process.js'
import type { ClientSession } from './session.js'

/** How often keys are looked up: with the index of accounts a block behind, a socket closes within two blocks of its key's end. */
const LOOK_AT_KEYS_MS = 1_000
/** A socket of a key that could not be read for so long is closed. */
export const KEY_UNREAD_MS = 30_000

type KeyedSession = Pick<ClientSession, 'sessionKey' | 'endKey'>

export interface KeyWatchOptions {
  /** Every open session of this process. */
  readonly sessions: () => Iterable<KeyedSession>
  /** Unix seconds at which each key ends, 0 for one that has; undefined when that cannot be read. At most MAX_ASKED_KEYS at once. */
  readonly readEnds: (keys: readonly AskedKey[]) => Promise<readonly bigint[] | undefined>
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** Monotonic milliseconds. */
  readonly elapsedMs?: () => number
}

/** What was read last of a key. */
interface LookedUp {
  readonly endSec: bigint | undefined
  readonly atMs: number
}

/**
 * Looks the session keys of open sockets up, each once however many sockets it has opened, and ends the sockets of those that have
 * ended (AUT-042). Keeps what it has read of keys with an open socket alone.
 */
export class KeyWatch {
  readonly #options: KeyWatchOptions
  #known = new Map<string, LookedUp>()
  #looking: Promise<void> | undefined

  constructor(options: KeyWatchOptions) {
    this.#options = options
  }

  /** Resolves when all were looked up; a look that is under way is joined. Rejects with a defect alone. */
  look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  /** Resolves once no look is under way. */
  async idle(): Promise<void> {
    await this.#looking
  }

  async #lookOnce(): Promise<void> {
    const asked = new Map<string, AskedKey>()
    for (const session of this.#options.sessions()) {
      const key = session.sessionKey()
      if (key !== undefined) asked.set(nameOf(key), key)
    }
    this.#known = new Map([...this.#known].filter(([name]) => asked.has(name)))
    const keys = [...asked.values()]
    for (let from = 0; from < keys.length; from += MAX_ASKED_KEYS) {
      await this.#read(keys.slice(from, from + MAX_ASKED_KEYS))
      // Each question may take its whole time, while the keys of the ones before go on to age.
      this.#close()
    }
  }

  async #read(keys: readonly AskedKey[]): Promise<void> {
    const ends = await this.#options.readEnds(keys)
    const atMs = this.#elapsedMs()
    for (const [at, key] of keys.entries()) {
      const endSec = ends?.[at]
      const name = nameOf(key)
      // A first look that fails starts the time in which a later one has to succeed.
      if (endSec !== undefined) this.#known.set(name, { endSec, atMs })
      else if (!this.#known.has(name)) this.#known.set(name, { endSec, atMs })
    }
  }

  #close(): void {
    const nowMs = this.#options.nowMs()
    for (const session of this.#options.sessions()) {
      const key = session.sessionKey()
      const known = key && this.#known.get(nameOf(key))
      if (known === undefined) continue
      const isOver = known.endSec !== undefined && hasEnded(known.endSec, nowMs)
      if (isOver || this.#elapsedMs() - known.atMs > KEY_UNREAD_MS) session.endKey()
    }
  }

  #elapsedMs(): number {
    const { elapsedMs = () => performance.now() } = this.#options
    return elapsedMs()
  }
}

/** Looks at the keys from now on. */
export function watchKeys(options: KeyWatchOptions): RunningProcess {
  const keys = new KeyWatch(options)
  // A rejected look is a broken invariant: left unhandled, it ends the process.
  const looking = setInterval(() => void keys.look(), LOOK_AT_KEYS_MS)
  return {
    async stop() {
      clearInterval(looking)
      await keys.idle()
    },
  }
}

const nameOf = ({ owner, key }: AskedKey): string => `${owner} ${key}`
