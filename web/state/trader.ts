import type { Signer } from '../wallet/signer.js'

/** Who trades at this page. */
export interface Trader {
  readonly kind: 'demo' | 'developer' | 'wallet'
  readonly name: string
  readonly owner: `0x${string}`
  /** Signs orders, changes, cancels and frames: the owner's key, or a session key. */
  readonly signer: Signer
  /** Signs what moves money: the owner's key alone. */
  readonly moneySigner: Signer
  /** Whether `signer` asks no one. */
  readonly isSilent: boolean
  /** Accounts that are known before the venue's index has them, by manager address in lower case. */
  readonly known: ReadonlyMap<string, string>
}
