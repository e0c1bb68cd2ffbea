import type { Provider } from './provider.js'

/** A wallet that this browser has. */
export interface FoundWallet {
  /** Reverse domain name of the wallet, `io.metamask`: the same after a reload, where `uuid` is not. */
  readonly rdns: string
  readonly name: string
  /** A data URI; empty where the wallet gives none that a page under a strict policy may show. */
  readonly icon: string
  readonly provider: Provider
}

/** The page's window, as far as it is needed. */
export interface Announcements {
  addEventListener(type: string, listener: (event: unknown) => void): void
  removeEventListener(type: string, listener: (event: unknown) => void): void
  dispatchEvent(event: Event): boolean
}

/** More wallets than any browser has: a page that is flooded with announcements keeps this many. */
const MOST_WALLETS = 32
const MOST_NAME = 64
const MOST_ICON = 128 * 1024

/**
 * Follows the wallets of this browser by EIP-6963: `onChange` has those that are known by now, in the order in which they came, at
 * first and after each new one. `legacy`, `window.ethereum`, stands in where none announces itself, for wallets that are older than
 * the standard. Returns what ends it.
 */
export function followWallets(
  page: Announcements,
  onChange: (wallets: readonly FoundWallet[]) => void,
  legacy?: unknown,
): () => void {
  const found = new Map<string, FoundWallet>()
  const old: readonly FoundWallet[] = isProvider(legacy)
    ? [{ rdns: 'injected', name: 'Browser wallet', icon: '', provider: legacy }]
    : []
  const shown = (): readonly FoundWallet[] => (found.size === 0 ? old : [...found.values()])
  const onAnnounce = (event: unknown): void => {
    const wallet = readAnnouncement(event)
    // A wallet announces itself as often as it is asked; another one under its name has come later.
    if (wallet === undefined || found.has(wallet.rdns) || found.size >= MOST_WALLETS) return
    found.set(wallet.rdns, wallet)
    onChange(shown())
  }
  page.addEventListener('eip6963:announceProvider', onAnnounce)
  onChange(shown())
  page.dispatchEvent(new Event('eip6963:requestProvider'))
  return () => page.removeEventListener('eip6963:announceProvider', onAnnounce)
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}

function readAnnouncement(event: unknown): FoundWallet | undefined {
  const { info, provider } = fieldsOf(fieldsOf(event).detail)
  const { rdns, name, icon } = fieldsOf(info)
  if (!isProvider(provider) || !isName(rdns) || !isName(name)) return undefined
  const isShown = typeof icon === 'string' && icon.startsWith('data:image/')
  return { rdns, name, icon: isShown && icon.length <= MOST_ICON ? icon : '', provider }
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MOST_NAME

const isProvider = (value: unknown): value is Provider =>
  typeof fieldsOf(value).request === 'function'
