import { serializeTypedData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type {
  CancelAllSigner,
  CancelSigner,
  MarketEntry,
  MessageSigner,
  PermitSigner,
  TypedDataSigner,
} from '../client/index.js'

/** Who signs: an account of a devnet, held in memory only, or a wallet in the browser. No key can be typed in. */

type Address = `0x${string}`

export type Signer = TypedDataSigner & MessageSigner & CancelSigner & CancelAllSigner & PermitSigner

export interface Account {
  readonly name: string
  readonly signer: Signer
  /** The subaccount with which a market is traded, where it is known. */
  readonly subaccountOf: (market: MarketEntry) => string | undefined
}

/** A file is not the description of a devnet, or of another one. */
export class NotThisDevnet extends Error {
  override readonly name = 'NotThisDevnet'
}

interface DevnetAccount {
  readonly name: string
  readonly private_key: Address
  readonly [field: string]: unknown
}

/** The accounts in the text of a `devnet.json`. Throws NotThisDevnet; a public chain is never one. */
export function accountsOf(
  text: string,
  venue: { readonly chain_id: number; readonly matching: string },
): Account[] {
  let devnet: {
    chain_id?: number
    matching?: string
    perp_manager?: string
    accounts?: DevnetAccount[]
  }
  try {
    devnet = JSON.parse(text) as typeof devnet
  } catch {
    throw new NotThisDevnet(
      'the file is not JSON: choose devnet.json of the venue’s data directory',
    )
  }
  if (devnet.chain_id !== venue.chain_id || devnet.matching?.toLowerCase() !== venue.matching) {
    throw new NotThisDevnet('the file describes another venue than this one')
  }
  return (devnet.accounts ?? []).map((account) => ({
    name: account.name,
    signer: privateKeyToAccount(account.private_key),
    subaccountOf: (market) =>
      textOf(
        market.margin_manager_address === devnet.perp_manager
          ? account.perp_subaccount_id
          : account.spot_subaccount_id,
      ),
  }))
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

interface Provider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>
}

/** The wallet that the browser offers (EIP-1193); undefined without one. */
export const injectedWallet = (): Provider | undefined =>
  (globalThis as { readonly ethereum?: Provider }).ethereum

/** Asks the wallet for its account. The wallet shows what it signs. */
export async function connectWallet(provider: Provider): Promise<Account> {
  const [address] = (await provider.request({ method: 'eth_requestAccounts' })) as Address[]
  if (address === undefined) throw new NotThisDevnet('the wallet offers no account')
  const typed = (data: Parameters<typeof serializeTypedData>[0]) =>
    provider.request({
      method: 'eth_signTypedData_v4',
      params: [address, serializeTypedData(withDomainType(data))],
    }) as Promise<Address>
  const signer: Signer = {
    address,
    signTypedData: (data: unknown) => typed(data as Parameters<typeof serializeTypedData>[0]),
    signMessage: ({ message }) =>
      provider.request({ method: 'personal_sign', params: [message, address] }) as Promise<Address>,
  }
  return { name: 'wallet', signer, subaccountOf: () => undefined }
}

/** Wallets want the type of the domain among the others. */
const withDomainType = (data: Parameters<typeof serializeTypedData>[0]): typeof data => ({
  ...data,
  types: {
    ...data.types,
    EIP712Domain: [
      ...[
        { name: 'name', type: 'string' },
        { name: 'version', type: 'string' },
      ],
      ...[
        { name: 'chainId', type: 'uint256' },
        { name: 'verifyingContract', type: 'address' },
      ],
    ],
  },
})
