import type { VenueFacts } from '../../interface/signing.js'
import type { Trader } from '../state/trader.js'
import { keySigner } from '../wallet/key-signer.js'

/** Accounts of a devnet, held in memory only. No key can be typed in. */

/** A file is not the description of a devnet, or of another one. */
export class NotThisDevnet extends Error {
  override readonly name = 'NotThisDevnet'
}

interface DevnetAccount {
  readonly name: string
  readonly private_key: `0x${string}`
  readonly spot_subaccount_id?: string
  readonly perp_subaccount_id?: string
}

interface Devnet {
  readonly chain_id?: number
  readonly matching?: string
  readonly accounts?: readonly DevnetAccount[]
}

/** The traders in the text of a `devnet.json`. Throws NotThisDevnet. */
export function developerTraders(text: string, facts: VenueFacts): readonly Trader[] {
  const devnet = parsed(text)
  const matching = facts.domains.actions.verifyingContract.toLowerCase()
  if (devnet.chain_id !== facts.chain_id || devnet.matching?.toLowerCase() !== matching)
    throw new NotThisDevnet('the file describes another venue than this one')
  return (devnet.accounts ?? []).map((account) => {
    const signer = keySigner(account.private_key)
    return {
      kind: 'developer',
      name: account.name,
      owner: signer.address,
      isSilent: true,
      signer,
      moneySigner: signer,
      known: knownOf(account, facts),
    }
  })
}

function parsed(text: string): Devnet {
  try {
    return JSON.parse(text) as Devnet
  } catch {
    throw new NotThisDevnet(
      'the file is not JSON: choose devnet.json of the venue’s data directory',
    )
  }
}

function knownOf(
  { spot_subaccount_id: spot, perp_subaccount_id: perp }: DevnetAccount,
  { contracts }: VenueFacts,
): ReadonlyMap<string, string> {
  const pairs = [
    [contracts.spot_manager, spot],
    [contracts.future_manager, spot],
    [contracts.perp_manager, perp],
  ] as const
  return new Map(
    pairs.flatMap(([manager, id]) =>
      manager === undefined || id === undefined ? [] : [[manager.toLowerCase(), id] as const],
    ),
  )
}
