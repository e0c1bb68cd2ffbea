import { generatePrivateKey } from 'viem/accounts'
import type { Address, Hex } from '../../core/action.js'
import type { AccountsBody } from '../../interface/accounts.js'
import { callData } from './calls.js'
import { WalletFault } from './fault.js'
import { keySigner } from './key-signer.js'
import type { Signer } from './signer.js'
import type { WalletSender } from './transactions.js'

/** A key that trades for an owner without asking, until it ends. It moves no money. */
export interface SessionKey {
  readonly owner: Address
  readonly address: Address
  /** Unix seconds. */
  readonly expirySec: number
  /** Signs orders, changes, cancels and frames; the client's `owner` option names the owner beside it. */
  readonly signer: Signer
}

/** As it is kept. */
export interface KeptKey {
  readonly owner: Address
  readonly privateKey: Hex
  readonly expirySec: number
}

/** Where a key outlives a reload. Every method throws WalletFault `not_kept` where the browser keeps nothing. */
export interface KeyPlace {
  read(owner: Address): Promise<KeptKey | undefined>
  write(kept: KeptKey): Promise<void>
  forget(owner: Address): Promise<void>
}

/** How long a key may trade, in seconds. */
export const KEY_LIVES_SEC = { day: 86_400, week: 604_800 } as const
/** A key that ends sooner is renewed rather than used: the venue matches no order of its last seconds. */
const LAST_SEC = 60

export type TradingStep =
  /** The wallet asks its user. */
  | { readonly step: 'asking' }
  | { readonly step: 'sent'; readonly hash: Hex }
  /** The chain has it; the venue's index follows within a block or two. */
  | { readonly step: 'mined'; readonly hash: Hex }
  | { readonly step: 'done' }

export interface TradingParts {
  /** What the venue knows of an owner: `GET /v1/accounts`. */
  readonly accounts: (owner: Address) => Promise<Pick<AccountsBody, 'session_keys'>>
  readonly tab: KeyPlace
  /** Absent where the browser has none. */
  readonly vault?: KeyPlace | undefined
  /** Unix milliseconds by the venue's clock. */
  readonly nowMs: () => number
  readonly everyMs?: number
  readonly withinMs?: number
}

export interface SessionTrading {
  /** The key of this browser for an owner, where the venue lists it; undefined when there is none, or it has ended. */
  known(owner: Address): Promise<SessionKey | undefined>
  /**
   * Makes a key and registers it by one transaction of the owner; resolves once the venue lists it. It is kept for the tab, or in the
   * vault where `remember`. Throws WalletFault; nothing is kept of a key that was not registered.
   */
  enable(sender: WalletSender, options: EnableOptions): Promise<SessionKey>
  /** The same key for longer, by one transaction. */
  renew(sender: WalletSender, key: SessionKey, options: EnableOptions): Promise<SessionKey>
  /** Ends the key by one transaction; its orders leave. The browser forgets it also where the transaction fails. */
  revoke(
    sender: WalletSender,
    address: Address,
    onStep?: (step: TradingStep) => void,
  ): Promise<void>
  /** Forgets it here; on the chain it stays until its end. */
  forget(owner: Address): Promise<void>
}

export interface EnableOptions {
  readonly livesSec: number
  readonly remember: boolean
  readonly onStep?: (step: TradingStep) => void
}

const EVERY_MS = 500
const SEEN_WITHIN_MS = 30_000

export function createTrading(parts: TradingParts): SessionTrading {
  const { tab, vault, nowMs } = parts
  const isOver = ({ expirySec }: KeptKey): boolean => expirySec - LAST_SEC <= nowMs() / 1_000
  return {
    forget: (owner) => forget(parts, owner),
    async known(owner) {
      for (const place of [tab, vault]) {
        const kept = await place?.read(owner)
        if (kept === undefined) continue
        if (isOver(kept)) await place?.forget(owner)
        else if (await isListed(parts, kept)) return sessionKeyOf(kept)
      }
      return undefined
    },
    enable: (sender, options) => register(parts, sender, generatePrivateKey(), options),
    async renew(sender, { owner, address }, options) {
      const kept = (await tab.read(owner)) ?? (await vault?.read(owner))
      // Another tab has forgotten or replaced it: a new key is as good.
      const isSame = kept !== undefined && sessionKeyOf(kept).address === address
      return register(parts, sender, isSame ? kept.privateKey : generatePrivateKey(), options)
    },
    revoke: (sender, address, onStep) => revoke(parts, sender, address, onStep),
  }
}

async function forget({ tab, vault }: TradingParts, owner: Address): Promise<void> {
  await tab.forget(owner)
  await vault?.forget(owner)
}

/** Whether the venue lists the key for at least so long. */
async function isListed(parts: TradingParts, kept: KeptKey): Promise<boolean> {
  const expirySec = await listedUntil(parts, kept.owner, sessionKeyOf(kept).address)
  return expirySec !== undefined && expirySec >= BigInt(kept.expirySec)
}

/** Unix seconds; undefined for a key that the venue does not list. */
async function listedUntil(
  { accounts }: TradingParts,
  owner: Address,
  address: Address,
): Promise<bigint | undefined> {
  const { session_keys } = await accounts(owner)
  const found = session_keys.find((key) => key.address.toLowerCase() === address)
  return found && BigInt(found.expiry)
}

async function register(
  parts: TradingParts,
  sender: WalletSender,
  privateKey: Hex,
  { livesSec, remember, onStep = () => undefined }: EnableOptions,
): Promise<SessionKey> {
  const { owner, chain } = sender
  const expirySec = Math.floor(parts.nowMs() / 1_000) + livesSec
  const kept: KeptKey = { owner, privateKey, expirySec }
  const key = sessionKeyOf(kept)
  const place = remember ? parts.vault : parts.tab
  if (place === undefined) throw notKept()
  onStep({ step: 'asking' })
  const data = callData('registerSessionKey(address,uint256)', key.address, BigInt(expirySec))
  const hash = await sender.send({
    to: chain.matching,
    data,
    deed: 'the registration of the key',
    onHash: (sent) => onStep({ step: 'sent', hash: sent }),
  })
  onStep({ step: 'mined', hash })
  await forget(parts, owner)
  await place.write(kept)
  await until(() => isListed(parts, kept), parts, hash)
  onStep({ step: 'done' })
  return key
}

async function revoke(
  parts: TradingParts,
  sender: WalletSender,
  address: Address,
  onStep: (step: TradingStep) => void = () => undefined,
): Promise<void> {
  const { owner, chain } = sender
  await forget(parts, owner)
  onStep({ step: 'asking' })
  const hash = await sender.send({
    to: chain.matching,
    data: callData('deregisterSessionKey(address)', address),
    deed: 'the end of the key',
    onHash: (sent) => onStep({ step: 'sent', hash: sent }),
  })
  onStep({ step: 'mined', hash })
  const isGone = async (): Promise<boolean> =>
    (await listedUntil(parts, owner, address)) === undefined
  await until(isGone, parts, hash)
  onStep({ step: 'done' })
}

export function sessionKeyOf({ owner, privateKey, expirySec }: KeptKey): SessionKey {
  const account = keySigner(privateKey)
  return { owner, address: account.address.toLowerCase() as Address, expirySec, signer: account }
}

/** Asks until the venue shows what the chain has. Throws WalletFault `not_seen` when it takes too long. */
export async function until(
  isShown: () => Promise<boolean>,
  { everyMs = EVERY_MS, withinMs = SEEN_WITHIN_MS }: Pick<TradingParts, 'everyMs' | 'withinMs'>,
  hash: Hex,
): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await isShown())) {
    if (performance.now() >= deadline) {
      throw new WalletFault(
        'not_seen',
        'The chain has carried it out, but the venue does not show it yet.',
        'Wait a moment and reload; nothing needs to be sent again.',
        hash,
      )
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}

export const notKept = (): WalletFault =>
  new WalletFault(
    'not_kept',
    'This browser keeps nothing for this page.',
    'Allow the page to store data, or leave “remember” off.',
  )

/** A browser's storage of a tab, as far as it is needed. */
export interface TextStorage {
  getItem(name: string): string | null
  setItem(name: string, value: string): void
  removeItem(name: string): void
}

/** Keys of this tab alone; `venue` tells venues at the same address apart, as the matching contract does. */
export function createKeyShelf(storage: TextStorage, venue: string): KeyPlace {
  const nameOf = (owner: Address): string => `session-key:${venue}:${owner}`
  const guarded = async <Value>(use: () => Value): Promise<Value> => {
    try {
      return await use()
    } catch {
      // A browser that blocks or has filled its storage throws a DOMException.
      throw notKept()
    }
  }
  return {
    read: (owner) => guarded(() => readKept(storage.getItem(nameOf(owner)), owner)),
    write: (kept) => guarded(() => storage.setItem(nameOf(kept.owner), JSON.stringify(kept))),
    forget: (owner) => guarded(() => storage.removeItem(nameOf(owner))),
  }
}

/** Undefined for text that this build has not written. */
export function readKept(text: string | null, owner: Address): KeptKey | undefined {
  let found: Partial<KeptKey> | null
  try {
    found = JSON.parse(text ?? 'null') as Partial<KeptKey> | null
  } catch {
    return undefined
  }
  if (typeof found !== 'object' || found === null || found.owner !== owner) return undefined
  const { privateKey, expirySec } = found
  const isKey = typeof privateKey === 'string' && /^0x[0-9a-f]{64}$/.test(privateKey)
  return isKey && typeof expirySec === 'number' ? { owner, privateKey, expirySec } : undefined
}
