import { createKeyShelf, type TextStorage } from '../wallet/session-key.js'
import { openVault } from '../wallet/vault.js'
import type { WalletBrowser } from './wallets.js'

const NOTHING_KEPT: TextStorage = {
  getItem: () => null,
  setItem: () => undefined,
  removeItem: () => undefined,
}

/** This browser, as far as wallets need it; `venue` tells venues at the same address apart, as the matching contract does. */
export function walletBrowser(storage: Storage | undefined, venue: string): WalletBrowser {
  const ofTab = storage === undefined ? undefined : globalThis.sessionStorage
  return {
    page: window,
    storage,
    tab: createKeyShelf(ofTab ?? NOTHING_KEPT, venue),
    legacy: (globalThis as { readonly ethereum?: unknown }).ethereum,
    vault: 'indexedDB' in globalThis ? openVault(indexedDB, crypto, venue) : undefined,
  }
}
