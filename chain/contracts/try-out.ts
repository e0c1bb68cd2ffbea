import { encodeFunctionData, numberToHex } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { tradingOf } from '../../core/contracts/registry.js'
import { signedAmount } from '../../core/entry/order-terms.js'
import {
  encodeDepositData,
  encodeTradeData,
  encodeWithdrawalData,
  signedWord,
} from '../../core/entry/read-action.js'
import { MIN_DEPOSIT_UNITS_6 } from '../../core/limits.js'
import type { Market } from '../../core/model/market.js'
import { amountE18, quoteE18, tokenUnits6, unitsToE18 } from '../../core/money.js'
import { subAccountsAbi } from '../abi/contracts.js'
import { NotWords, revertName, revertOf } from '../abi/errors.js'
import { readHead, type ChainHead } from '../reads/blocks.js'
import { ChainUnreachable, orUnreachable, unreachable, type ChainClient } from '../reads/client.js'
import type { Deployment } from '../reads/deployment.js'
import type { StateOverrides } from '../reads/state-client.js'
import { encodeBatch, encodeMatch, encodeTransfer } from './calldata.js'
import type { Brought, Trial } from './chain-contract.js'
import { cureOf, type RefusedBy } from './cures.js'
import { blockCalls } from './observe-account.js'
import { chainContractOf } from './registry.js'
import {
  decodeBatchAnswer,
  simulateCalls,
  TRANSACTION_GAS_CAP,
  type SequencedResult,
} from './simulate.js'
import {
  approval,
  balanceOverride,
  balanceRead,
  funding,
  inTokens,
  joined,
  opening,
  signedBy,
  stepOf,
  throwAway,
  type StagedCall,
  type ThrowAway,
  type TokenAmount,
} from './throw-away.js'

/**
 * Tries what the venue sends, in a simulation with accounts that exist nowhere else: one match of a market, a deposit, a
 * withdrawal. Nothing of the deployment is made up, so that whatever refuses them on the chain refuses them here.
 */

/** `untried`: nothing is known, for the reason. */
export type TriedOut =
  /** `note`: what it says less than that. */
  | { readonly kind: 'passes'; readonly note?: string }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'untried'; readonly why: string }

export interface TryingDeps {
  readonly client: ChainClient
  readonly deployment: Deployment
  /** Settles matches. */
  readonly executor: Address
}

/** Who sends the transaction that is tried. */
export interface TryingSender extends TryingDeps {
  readonly sender: Address
}

const PASSES: TriedOut = { kind: 'passes' }
const untried = (why: string): TriedOut => ({ kind: 'untried', why })
const refused = (why: string): TriedOut => ({ kind: 'refused', why })

/** More than a signed bound on fees ever is. */
const ANY_FEE = 10n ** 36n
/** For a match through the batch executor, which needs some gas of its own. */
const MATCH_GAS = 12_000_000n
const SENT_GAS = numberToHex(TRANSACTION_GAS_CAP)

/** An owner, what it brings, and the account that it will have. */
interface Party {
  readonly owner: ThrowAway
  readonly id: bigint
  readonly brings: readonly TokenAmount[]
}

/** A place in which parties have opened and filled their accounts. */
interface Stage {
  readonly head: ChainHead
  readonly parties: readonly Party[]
  readonly overrides: StateOverrides
  readonly steps: readonly StagedCall[]
}

/** A match of the market between two accounts under its manager, sent as the venue sends it. Rejects with ChainUnreachable. */
export async function tryMatch(deps: TryingDeps, market: Market): Promise<TriedOut> {
  const { client, deployment } = deps
  const contract = chainContractOf(market)
  if (contract?.readTrial === undefined)
    return untried(`no match of ${market.contractType} is known`)
  const { marginManagerAddress: manager, tradeModuleAddress: module } = market
  const by: RefusedBy = {
    matching: deployment.matching,
    module,
    manager,
    paysFees: true,
    sender: deployment.batchExecutor ?? deps.executor,
    operator: deps.executor,
    assets: [market.assetAddress, market.quoteAssetAddress],
  }
  const head = await readHead(client)
  const trial = await readTrial(deps, market, head)
  if (typeof trial === 'string') return refused(trial)
  if ('revert' in trial) return refused(`${trial.revert}: ${cureOf(trial.revert, by)}`)
  const stage = await stageOf(deps, head, manager, [trial.buyer, trial.seller])
  if (typeof stage === 'string') return untried(stage)
  const sent = await matchStep(deps, market, trial, stage)
  const reads = stage.parties.map((party) => quoteRead(deps, market, party))
  const played = await play(deps, stage, [sent, ...reads], by)
  if ('stage' in played) return untried(`no account can be filled for it: ${played.stage}`)
  if ('kind' in played) return played
  const [match, ...balances] = played.answers
  const failed = refusedInBatch(deps, match)
  if (failed !== undefined)
    return refused(`the match reverts with ${failed}: ${cureOf(failed, by)}`)
  return unexpectedFee(market, trial, stage, balances) ?? PASSES
}

async function readTrial(
  { client, deployment }: TryingDeps,
  market: Market,
  head: ChainHead,
): Promise<Trial | string | { readonly revert: string }> {
  try {
    const block = blockCalls({ client, deployment }, head)
    return (await chainContractOf(market)?.readTrial?.(market, block)) ?? 'no match is known'
  } catch (error) {
    if (error instanceof NotWords) return `a contract of it answers otherwise: ${error.message}`
    const revert = revertOf(error)
    if (revert !== undefined) return { revert: revert.name }
    throw error instanceof ChainUnreachable ? error : unreachable('the terms of a match', error)
  }
}

/** Opens an account for each, filled with what it brings; a text where that cannot be simulated. */
async function stageOf(
  { client, deployment, executor }: TryingDeps,
  head: ChainHead,
  manager: Address,
  brought: readonly (readonly Brought[])[],
): Promise<Stage | string> {
  const lastId = await accountsAt(client, deployment.subAccounts, head.number)
  const parties: Party[] = []
  for (const [index, of] of brought.entries()) {
    const brings: TokenAmount[] = []
    for (const each of of) {
      const amount = await orUnreachable('the token of an escrow', inTokens(client, each))
      if (typeof amount === 'string') return amount
      brings.push(amount)
    }
    parties.push({ owner: throwAway(head.hash, index), id: lastId + BigInt(index) + 1n, brings })
  }
  const overrides: StateOverrides[] = []
  for (const { owner, brings } of parties) {
    for (const amount of brings) {
      const found = await balanceOverride(
        client,
        amount,
        { owner: owner.address, payer: executor },
        head.number,
      )
      if (typeof found === 'string') return found
      overrides.push(found)
    }
  }
  return {
    head,
    parties,
    overrides: joined(overrides),
    steps: parties.flatMap(({ owner, id, brings }) => [
      opening(owner.address, deployment.matching, manager),
      ...brings.flatMap((amount) => funding(owner.address, id, amount)),
    ]),
  }
}

async function accountsAt(client: ChainClient, subAccounts: Address, block: bigint) {
  const call = { abi: subAccountsAbi, functionName: 'lastAccountId' } as const
  const read = client.readContract({ address: subAccounts, ...call, blockNumber: block })
  return orUnreachable('the number of accounts', read)
}

interface StageAnswers {
  /** What each of the calls behind the stage returned. */
  readonly answers: readonly Hex[]
}

/** Why the stage itself cannot be set, so that the calls say nothing. */
interface NotSet {
  readonly stage: string
}

/** Runs the stage and then the calls; what came of it, unless all of them passed. */
async function play(
  { client, deployment }: TryingDeps,
  { head, parties, overrides, steps }: Stage,
  calls: readonly StagedCall[],
  by: RefusedBy,
): Promise<StageAnswers | TriedOut | NotSet> {
  const { number: blockNumber } = head
  const made = parties.flatMap(({ owner, brings }) =>
    brings.map(({ token, units }) => ({ units, step: balanceRead(token, owner.address) })),
  )
  const all = [...made.map(({ step }) => step), ...steps, ...calls]
  const sent = all.map(({ from, to, data, gas }) => ({ from, to, data, ...(gas && { gas }) }))
  const results = await simulateCalls(client, sent, { blockNumber, overrides })
  if (results?.length !== all.length)
    return untried('the node simulates no calls in a row with overrides (eth_simulateV1)')
  const isMade = made.every(({ units }, i) => answerOf(results[i]) === units)
  if (!isMade) return untried('the node simulates calls without the overrides')
  for (const [i, { does, to }] of all.entries()) {
    const result = results[i]
    if (result?.kind === 'reverts') {
      const why = (of: RefusedBy) =>
        `${does} reverts with ${result.revert}: ${cureOf(result.revert, of)}`
      if (i >= made.length + steps.length) return refused(why(by))
      const assets = by.assets.includes(to) ? [to] : by.assets
      return { stage: why({ ...by, assets, paysFees: false }) }
    }
    const opened = parties.find(({ owner }) => all[i]?.from === owner.address)
    const isOpening = to === deployment.matching && opened !== undefined
    if (isOpening && answerOf(result) !== opened.id)
      return untried(`accounts get other numbers than ${deployment.subAccounts} gives`)
  }
  return { answers: results.slice(-calls.length).map(bytesOf) }
}

const bytesOf = (result: SequencedResult | undefined): Hex =>
  result?.kind === 'passes' ? result.answer : '0x'

function answerOf(result: SequencedResult | undefined): bigint | undefined {
  const bytes = bytesOf(result)
  return bytes === '0x' ? undefined : BigInt(bytes.slice(0, 66))
}

/** The buyer takes the seller's order, as the executor sends it. */
async function matchStep(
  { deployment, executor }: TryingDeps,
  market: Market,
  { price, amount }: Trial,
  { parties, head }: Stage,
): Promise<StagedCall> {
  const signed = signedAmount(market, amount)
  const orders = await Promise.all(
    parties.map(({ owner, id }, i) =>
      signedBy(owner, deployment, {
        subaccountId: id,
        nonce: head.number,
        module: market.tradeModuleAddress,
        data: encodeTradeData({
          asset: market.assetAddress,
          subId: market.subId,
          limitPrice: price,
          desiredAmount: signed,
          worstFee: ANY_FEE,
          recipientId: id,
          isBid: i === 0,
        }),
      }),
    ),
  )
  const [taker, maker] = parties
  const { takerFee } = tradingOf(market)
  const call = encodeMatch({
    actions: orders.map(({ action }) => action),
    signatures: orders.map(({ signature }) => signature),
    orderData: {
      takerAccount: taker?.id ?? 0n,
      takerFee: takerFee(market, price, amount),
      fillDetails: [
        {
          filledAccount: maker?.id ?? 0n,
          price,
          amountFilled: amountE18(signed),
          fee: takerFee({ takerFeeBps: market.makerFeeBps }, price, amount),
        },
      ],
      managerData: '0x',
    },
  })
  const { matching, batchExecutor } = deployment
  const through = batchExecutor ?? matching
  const data = batchExecutor === undefined ? call : encodeBatch([{ call, gasLimit: MATCH_GAS }])
  return { ...stepOf('the match', executor, through, data), gas: SENT_GAS }
}

/** A batch passes although a match of it does not. */
function refusedInBatch({ deployment }: TryingDeps, answer: Hex | undefined): string | undefined {
  if (deployment.batchExecutor === undefined || answer === undefined) return undefined
  // An address without code passes each call, and returns nothing.
  if (answer === '0x') return revertName(answer)
  const [outcome] = decodeBatchAnswer(answer)
  if (outcome?.kind === 'success') return undefined
  return outcome?.kind === 'reverted' ? outcome.revert : 'not tried'
}

const quoteRead = (
  { deployment }: TryingDeps,
  market: Market,
  { owner, id }: Party,
): StagedCall => {
  const args = [id, market.quoteAssetAddress, 0n] as const
  const data = encodeFunctionData({ abi: subAccountsAbi, functionName: 'getBalance', args })
  return stepOf('reading a balance', owner.address, deployment.subAccounts, data)
}

/** An account that pays more or less than the venue counts, as for a fee of the manager's own. */
function unexpectedFee(
  market: Market,
  { price, amount, paid }: Trial,
  { parties }: Stage,
  balances: readonly Hex[],
): TriedOut | undefined {
  const { takerFee } = tradingOf(market)
  const fees = [market.takerFeeBps, market.makerFeeBps].map((takerFeeBps) =>
    takerFee({ takerFeeBps }, price, amount),
  )
  for (const [i, { brings }] of parties.entries()) {
    const began = brings.find(({ asset }) => asset === market.quoteAssetAddress)
    const before = began?.balance ?? 0n
    const counted = before + (i === 0 ? 0n - paid : paid) - (fees[i] ?? quoteE18(0n))
    const left =
      balances[i] === undefined || balances[i] === '0x' ? 0n : signedWord(BigInt(balances[i]))
    if (left !== counted)
      return refused(
        `the ${i === 0 ? 'taker' : 'maker'} has ${left} of ${market.quoteAssetAddress} after the match where the venue counts ${counted}: where the wiring is right, the manager ${market.marginManagerAddress} charges a fee of its own: setFeeBypassedCaller(${market.tradeModuleAddress}, true)`,
      )
  }
  return undefined
}

/** A deposit that opens an account, as the venue takes it. Rejects with ChainUnreachable. */
export async function tryDeposit(deps: TryingSender, manager: Address): Promise<TriedOut> {
  const { client, deployment, sender } = deps
  const { depositModule: module, cashAsset: asset, matching } = deployment
  const head = await readHead(client)
  const brings = { asset, amount: unitsToE18(tokenUnits6(MIN_DEPOSIT_UNITS_6)) }
  const stage = await stageOf(deps, head, manager, [[brings]])
  if (typeof stage === 'string') return untried(stage)
  const [party] = stage.parties
  const [amount] = party?.brings ?? []
  if (party === undefined || amount === undefined) return untried('nothing to deposit')
  const { owner } = party
  const data = encodeDepositData({ amount: amount.units, asset, managerForNewAccount: manager })
  const signed = await signedBy(owner, deployment, {
    subaccountId: 0n,
    nonce: head.number,
    module,
    data,
  })
  const call = encodeTransfer(signed.action, signed.signature)
  const steps = [approval(owner.address, amount.token, module, amount.units)]
  const sent = { ...stepOf('the deposit', sender, matching, call), gas: SENT_GAS }
  const by = { matching, sender, module, manager, assets: [asset] }
  const played = await play(deps, { ...stage, steps }, [sent], by)
  if ('stage' in played) return untried(played.stage)
  return 'kind' in played ? played : PASSES
}

/** What came of paying an asset into an account, and out of it again. */
export interface TriedTransfers {
  readonly deposit: TriedOut
  readonly withdrawal: TriedOut
}

const both = (one: TriedOut): TriedTransfers => ({ deposit: one, withdrawal: one })

/**
 * A deposit by the owner of an account under the manager, and a withdrawal of half of it by the venue. Rejects with
 * ChainUnreachable.
 */
export async function tryTransfers(
  deps: TryingSender,
  manager: Address,
  brings: Brought,
): Promise<TriedTransfers> {
  const { client, deployment, sender } = deps
  const { withdrawalModule: module, matching } = deployment
  const head = await readHead(client)
  const stage = await stageOf(deps, head, manager, [[brings]])
  if (typeof stage === 'string') return both(untried(stage))
  const [party] = stage.parties
  const [held] = party?.brings ?? []
  if (party === undefined || held === undefined) return both(untried('nothing to withdraw'))
  const { asset } = brings
  const signed = await signedBy(party.owner, deployment, {
    subaccountId: party.id,
    nonce: head.number,
    module,
    data: encodeWithdrawalData({ asset, amount: held.units / 2n }),
  })
  const call = encodeTransfer(signed.action, signed.signature)
  const sent = { ...stepOf('the withdrawal', sender, matching, call), gas: SENT_GAS }
  const by = { matching, sender, module, manager, assets: [asset] }
  const played = await play(deps, stage, [sent], by)
  if ('stage' in played)
    return {
      deposit: refused(played.stage),
      withdrawal: untried(`no account can be filled for it: ${played.stage}`),
    }
  if (!('kind' in played)) return both(PASSES)
  return played.kind === 'refused' ? { deposit: PASSES, withdrawal: played } : both(played)
}
