import { generatePrivateKey } from 'viem/accounts'
import type { DemoAccounts } from '../../interface/demo.js'
import type { VenueFacts } from '../../interface/signing.js'
import type { Trader } from '../state/trader.js'
import { keySigner } from '../wallet/key-signer.js'

/** A demo account of this browser, on a devnet alone: its key is made here, and the venue gives it play money. */
export interface DemoAccount {
  /** The trader that this browser has; undefined before the first. */
  known(): Trader | undefined
  /** The same, or a new one. Throws DemoRefused; the key is kept, so that the next try asks for the same address. */
  open(): Promise<Trader>
  /** The same accounts for another address, a wallet's. Throws DemoRefused. */
  fund(address: string): Promise<void>
  /** Its private key as text, to keep elsewhere; undefined before the first. */
  exported(): string | undefined
  /** Forgets the key: the next `open` makes another. */
  forget(): void
}

/** The venue gave no demo account; the message says why. */
export class DemoRefused extends Error {
  override readonly name = 'DemoRefused'
}

/** As this page has stored it. */
interface StoredDemoAccount {
  readonly private_key: `0x${string}`
  readonly accounts?: DemoAccounts
}

/** Undefined where the venue gives none. `base` is where the page came from. */
export function createDemoAccount(base: string, facts: VenueFacts): DemoAccount | undefined {
  const { devnet, domains } = facts
  if (devnet === undefined) return undefined
  // Another devnet at the same address has other accounts.
  const place = `demo-account:${facts.chain_id}:${domains.actions.verifyingContract}`
  const read = (): StoredDemoAccount | undefined => {
    try {
      const text = localStorage.getItem(place)
      return text === null ? undefined : (JSON.parse(text) as StoredDemoAccount)
    } catch (error) {
      // A browser that blocks storage: nothing is known, and a press says why.
      if (error instanceof DOMException) return undefined
      throw error
    }
  }
  const keep = (kept: StoredDemoAccount): StoredDemoAccount => {
    localStorage.setItem(place, JSON.stringify(kept))
    return kept
  }
  return {
    known() {
      const kept = read()
      return kept && traderOf(kept, facts)
    },
    async open() {
      const kept = read() ?? keep({ private_key: generatePrivateKey() })
      const known = traderOf(kept, facts)
      if (known !== undefined) return known
      const { address } = keySigner(kept.private_key)
      const accounts = await ask(new URL(devnet.demo_accounts.slice(1), base), address)
      const opened = traderOf(keep({ ...kept, accounts }), facts)
      if (opened === undefined) throw new DemoRefused('the browser keeps nothing')
      return opened
    },
    async fund(address) {
      await ask(new URL(devnet.demo_accounts.slice(1), base), address)
    },
    exported: () => read()?.private_key,
    forget: () => localStorage.removeItem(place),
  }
}

function traderOf(
  { private_key, accounts }: StoredDemoAccount,
  { contracts }: VenueFacts,
): Trader | undefined {
  if (accounts === undefined) return undefined
  const signer = keySigner(private_key)
  const known = new Map([
    [contracts.perp_manager?.toLowerCase() ?? '', accounts.perp_subaccount_id],
    [contracts.spot_manager?.toLowerCase() ?? '', accounts.spot_subaccount_id],
    [contracts.future_manager?.toLowerCase() ?? '', accounts.spot_subaccount_id],
  ])
  return {
    kind: 'demo',
    name: 'Demo: play money',
    owner: signer.address,
    known,
    signer,
    moneySigner: signer,
    isSilent: true,
  }
}

async function ask(url: URL, address: string): Promise<DemoAccounts> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ address }),
  })
  if (response.ok) return (await response.json()) as DemoAccounts
  const { error } = (await response.json()) as { readonly error?: string }
  throw new DemoRefused(error ?? `the venue answered ${response.status}`)
}
