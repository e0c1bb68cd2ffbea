import type { Address } from '../../core/action.js'
import type { VenueFacts } from '../../interface/signing.js'
import { WalletFault } from './fault.js'
import { askWallet, readHex, type Provider } from './provider.js'

/** The chain on which the venue settles, as a wallet has to see it. */
export interface VenueChain {
  readonly id: number
  readonly name: string
  /** The matching contract: where the wallet's chain has no code, it is another chain under the same number. */
  readonly matching: Address
  /** Where a wallet that does not know the chain finds it; absent: only the user can add it. */
  readonly rpcUrl?: string
  readonly explorerUrl?: string
}

export const venueChain = ({ chain, chain_id, domains }: VenueFacts): VenueChain => ({
  id: chain_id,
  name: chain.name,
  matching: domains.actions.verifyingContract as Address,
  ...(chain.rpc_url !== undefined && { rpcUrl: chain.rpc_url }),
  ...(chain.explorer_url !== undefined && { explorerUrl: chain.explorer_url }),
})

/** How a wallet's chain stands to the venue's. */
export type ChainStanding =
  | { readonly kind: 'ready' }
  | { readonly kind: 'wrong_chain'; readonly chainId: number }
  /** The right number, but another chain: the venue's contract is not on it. */
  | { readonly kind: 'not_the_venue' }

/** Reads the number of the wallet's chain, and whether the venue is on it, through the wallet. Throws WalletFault. */
export async function lookAtChain(provider: Provider, chain: VenueChain): Promise<ChainStanding> {
  const deed = 'the number of its chain'
  const chainId = Number(readHex(await askWallet(provider, { method: 'eth_chainId', deed }), deed))
  if (chainId !== chain.id) return { kind: 'wrong_chain', chainId }
  const params = [chain.matching, 'latest']
  const code = await askWallet(provider, {
    method: 'eth_getCode',
    params,
    deed: 'the reading of the chain',
  })
  return readHex(code, 'the reading of the chain').length > 2
    ? { kind: 'ready' }
    : { kind: 'not_the_venue' }
}

/** Why a wallet on such a chain cannot act for the venue; undefined where it can. */
export function chainFault(standing: ChainStanding, chain: VenueChain): WalletFault | undefined {
  switch (standing.kind) {
    case 'ready':
      return undefined
    case 'wrong_chain':
      return new WalletFault(
        'wrong_chain',
        `The wallet is on chain ${standing.chainId}; the venue is on ${chain.name} (${chain.id}).`,
        `Switch the wallet to ${chain.name}.`,
      )
    case 'not_the_venue':
      return new WalletFault(
        'not_the_venue',
        `The wallet’s chain has the number ${chain.id}, but the venue is not on it.`,
        chain.rpcUrl === undefined
          ? `Set the wallet’s network ${chain.id} to a node of ${chain.name}.`
          : `Set the wallet’s network ${chain.id} to ${chain.rpcUrl}.`,
      )
  }
}

/** Throws the WalletFault of a chain that is not the venue's: to be called right before a transaction. */
export async function mustBeOnChain(provider: Provider, chain: VenueChain): Promise<void> {
  const fault = chainFault(await lookAtChain(provider, chain), chain)
  if (fault !== undefined) throw fault
}

/**
 * Asks the wallet to switch to the venue's chain, and to add it first where it does not know it (4902) and the venue has told where
 * it is. Resolves once the wallet is there. Throws WalletFault.
 */
export async function switchChain(provider: Provider, chain: VenueChain): Promise<void> {
  try {
    await ask(provider, chain)
  } catch (error) {
    if (!(error instanceof WalletFault) || error.code !== 'unknown_chain') throw error
    if (chain.rpcUrl === undefined) {
      throw new WalletFault(
        'unknown_chain',
        error.message,
        `Add ${chain.name}, chain ${chain.id}, to the wallet, then try again.`,
      )
    }
    await add(provider, chain, chain.rpcUrl)
    // A wallet may add it and stay where it is.
    await ask(provider, chain)
  }
  await mustBeOnChain(provider, chain)
}

const hexOf = (id: number): string => `0x${id.toString(16)}`

const ask = (provider: Provider, { id, name }: VenueChain): Promise<unknown> =>
  askWallet(provider, {
    method: 'wallet_switchEthereumChain',
    params: [{ chainId: hexOf(id) }],
    deed: `the switch to ${name}`,
    prompts: true,
  })

const add = (
  provider: Provider,
  { id, name, explorerUrl }: VenueChain,
  rpcUrl: string,
): Promise<unknown> =>
  askWallet(provider, {
    method: 'wallet_addEthereumChain',
    params: [
      {
        chainId: hexOf(id),
        chainName: name,
        nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
        rpcUrls: [rpcUrl],
        ...(explorerUrl !== undefined && { blockExplorerUrls: [explorerUrl] }),
      },
    ],
    deed: `the addition of ${name}`,
    prompts: true,
  })
