import type { Address } from '../../core/action.js'
import { notKept, readKept, type KeyPlace } from './session-key.js'

const STORE = 'session-keys'

/** What the vault keeps of a key: sealed under an AES key that the browser gives to no script, this page's own among them. */
interface SealedKey {
  readonly cipher: CryptoKey
  readonly iv: Uint8Array<ArrayBuffer>
  readonly sealed: ArrayBuffer
}

/** Keys that outlive the tab. `venue` tells venues at the same address apart. Every method throws WalletFault `not_kept`. */
export function openVault(databases: IDBFactory, crypto: Crypto, venue: string): KeyPlace {
  const nameOf = (owner: Address): string => `${venue}:${owner}`
  const run = async <Value>(
    mode: IDBTransactionMode,
    use: (store: IDBObjectStore) => IDBRequest<Value>,
  ): Promise<Value> => {
    const db = await opened(databases)
    try {
      return await settled(use(db.transaction(STORE, mode).objectStore(STORE)))
    } finally {
      db.close()
    }
  }
  return {
    async read(owner) {
      const found = await run(
        'readonly',
        (store) => store.get(nameOf(owner)) as IDBRequest<SealedKey | undefined>,
      )
      if (found === undefined) return undefined
      const { cipher, iv, sealed } = found
      const text = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, cipher, sealed)
      return readKept(new TextDecoder().decode(text), owner)
    },
    async write(kept) {
      const made = crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
        'encrypt',
        'decrypt',
      ])
      const cipher = await made
      const iv = crypto.getRandomValues(new Uint8Array(12))
      const text = new TextEncoder().encode(JSON.stringify(kept))
      const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, cipher, text)
      await run('readwrite', (store) => store.put({ cipher, iv, sealed }, nameOf(kept.owner)))
    },
    async forget(owner) {
      await run('readwrite', (store) => store.delete(nameOf(owner)))
    },
  }
}

function opened(databases: IDBFactory): Promise<IDBDatabase> {
  const opening = databases.open('venue', 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE)
  return settled(opening)
}

/** Its result. Rejects with WalletFault `not_kept`: a browser in private mode refuses, a full one too. */
const settled = <Value>(request: IDBRequest<Value>): Promise<Value> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(notKept())
  })
