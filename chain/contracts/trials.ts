import type { Address } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import { E18 } from '../../core/money.js'
import { orUnreachable } from '../reads/client.js'
import type { Deployment } from '../reads/deployment.js'
import { newestCalls } from './observe-account.js'
import { chainContractOf } from './registry.js'
import {
  tryDeposit,
  tryMatch,
  tryTransfers,
  type TriedOut,
  type TryingDeps,
  type TryingSender,
} from './try-out.js'

/** What the venue trades, and who sends what is tried. */
export interface TrialsOf extends TryingDeps {
  readonly markets: readonly Market[]
  readonly submitters: readonly { readonly role: string; readonly address: Address }[]
}

/** A line of the check, and what it tries. */
export type NamedTrial = readonly [what: string, attempt: () => Promise<TriedOut>]

/** A market whose manager credits nothing else takes no transfer of it either. */
const NOTHING_TO_TRY: TriedOut = {
  kind: 'passes',
  note: 'accounts post nothing else: nothing is tried',
}

/** What a withdrawal is tried with, in 1e-18 units. */
const TRIED_BALANCE = 10n * E18

/**
 * A match of each market, a deposit, and a withdrawal of each token that accounts of the markets hold, in simulations. Where the
 * venue takes no transfers of a kind, they are tried as the executor would send them.
 */
export function trials(deps: TrialsOf): readonly NamedTrial[] {
  const { client, deployment, executor, markets, submitters } = deps
  const { perpManager, batchExecutor } = deployment
  const trying = { client, deployment, executor }
  const sentBy = (wanted: string): TryingSender => {
    const found = submitters.find(({ role }) => role === wanted)?.address
    return { ...trying, sender: found ?? batchExecutor ?? executor }
  }
  const transfers = new Map<string, readonly NamedTrial[]>()
  for (const { marginManagerAddress: manager, assetAddress, quoteAssetAddress } of markets) {
    for (const asset of [assetAddress, quoteAssetAddress]) {
      const name = escrowName(deployment, asset)
      if (name === undefined) continue
      const brings = { asset, amount: TRIED_BALANCE }
      const tried = once(() => tryTransfers(sentBy('withdrawal submitter'), manager, brings))
      const of = `of ${name} under ${manager} passes in a simulation`
      transfers.set(of, [
        [`a deposit ${of}`, async () => (await tried()).deposit],
        [`a withdrawal ${of}`, async () => (await tried()).withdrawal],
      ])
    }
  }
  const deposit: NamedTrial[] =
    perpManager === undefined
      ? []
      : [
          [
            'a deposit by the venue passes in a simulation',
            () => tryDeposit(sentBy('deposit submitter'), perpManager),
          ],
        ]
  const collateral = markets.flatMap((market): readonly NamedTrial[] => {
    const { readCollateral } = chainContractOf(market) ?? {}
    if (readCollateral === undefined) return []
    const of = `of the collateral of ${market.market} passes in a simulation`
    const tried = once(async () => {
      const asset = await orUnreachable(of, readCollateral(market, newestCalls(trying)))
      if (asset === undefined) return { deposit: NOTHING_TO_TRY, withdrawal: NOTHING_TO_TRY }
      const brings = { asset, amount: TRIED_BALANCE }
      return tryTransfers(sentBy('withdrawal submitter'), market.marginManagerAddress, brings)
    })
    return [
      [`a deposit ${of}`, async () => (await tried()).deposit],
      [`a withdrawal ${of}`, async () => (await tried()).withdrawal],
    ]
  })
  return [
    ...markets.map((market): NamedTrial => [
      `${market.market}: a match passes in a simulation`,
      () => tryMatch(trying, market),
    ]),
    ...deposit,
    ...[...transfers.values()].flat(),
    ...collateral,
  ]
}

/** Asks when it is first called, and answers the same from then on. */
function once<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let asked: Promise<Answer> | undefined
  return () => (asked ??= ask())
}

/** The key of an escrow in the deployment file; undefined for another contract. */
function escrowName(deployment: Deployment, asset: Address): string | undefined {
  const { wrappedUsdc, wrappedCngn, cashAsset } = deployment
  const names = new Map([
    [wrappedUsdc, 'wrapped_usdc'],
    [wrappedCngn, 'wrapped_cngn'],
    [cashAsset, 'cash_asset'],
  ])
  return names.get(asset)
}
