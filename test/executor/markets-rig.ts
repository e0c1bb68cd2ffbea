import { executeRequest } from '../../actors/matcher/ask-executor.js'
import { createGuiltyFinder } from '../../chain/contracts/find-guilty.js'
import { observeAccount, observeMarket } from '../../chain/contracts/observe-account.js'
import { createClaimReader } from '../../chain/contracts/read-claims.js'
import { createGasUseReader } from '../../chain/contracts/read-gas-use.js'
import { createMarkReader } from '../../chain/contracts/read-mark.js'
import { openKeyNonces } from '../../chain/sender/key-nonces.js'
import type { TransactionSender } from '../../chain/sender/transaction-sender.js'
import { createCodeReader } from '../../chain/reads/code-at-block.js'
import { isUnchanged, readSenderHead } from '../../chain/reads/blocks.js'
import type { ChainClient } from '../../chain/reads/client.js'
import { createTransactionSigner } from '../../chain/signing/keys.js'
import { revertName } from '../../chain/abi/errors.js'
import type { Address } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import { openingOf } from '../../core/model/market-terms.js'
import { tradingOf } from '../../core/contracts/registry.js'
import { applyCommand, type AppliedCommand } from '../../core/engine/apply-command.js'
import { checkBook } from '../../core/engine/check-state.js'
import { emptyMatcherState } from '../../core/engine/empty-state.js'
import type { Command, SettlementOutcome } from '../../core/model/command.js'
import type { LiveOrder } from '../../core/model/live-order.js'
import type { Order } from '../../core/model/order.js'
import type { MatcherState } from '../../core/engine/state.js'
import type { Match } from '../../core/model/match.js'
import { quoteE18 } from '../../core/money.js'
import type { MinedTransaction } from '../../core/transaction-journal.js'
import { createExecute, type ExecuteAnswer } from '../../executor/execute.js'
import { createInFlightBook } from '../../executor/in-flight.js'
import { observeExecutor } from '../../executor/observe.js'
import { createLostGas } from '../../executor/lost-gas.js'
import { packBatches, packSingly } from '../../executor/pack-matches.js'
import { executePayload } from '../../executor/payload.js'
import { settleGroup, type GroupDeps } from '../../executor/settle-group.js'
import type { QueuedSettlement } from '../../executor/settlement.js'
import { createLog } from '../../runtime/process/log.js'
import { SUCCESS } from '../sim/batch-contract.js'
import { allow, AT, balanceOf, CHAIN_ID, type ChainState } from '../sim/chain-state.js'
import { createChain, type MinedReceipt } from '../sim/chain.js'
import { createRandom } from '../sim/random.js'
import { createWorld, type World } from '../sim/world.js'
import { openMemoryJournal } from '../support/memory-journal.js'
import { signedByWallet } from '../support/simulated-match.js'
import { clientOf } from '../support/simulated-node.js'

const signer = createTransactionSigner(`0x${'e7'.repeat(32)}`, CHAIN_ID)
const deployment = { matching: AT.matching, subAccounts: AT.subAccounts, chainId: CHAIN_ID }
const GAS = { maxFeePerGas: 4_000_000_000n, maxPriorityFeePerGas: 1n }
/** No request of a test waits so long. */
const TIMEOUT_MS = 60_000
/** Turns of the event loop in which all that was begun comes to its end; the chain answers at once. */
const TURNS = 12

export interface RigOptions {
  readonly seed: number
  readonly markets: readonly Market[]
  readonly batches: boolean
  /** What the chain begins with. */
  readonly genesis: (state: ChainState) => void
  /** Comes between a refusal and the look at what is guilty of it. */
  readonly beforeBlame: () => void
}

/** The outcome of a match, and what its market made of it. */
export interface Reported {
  readonly market: string
  readonly outcome: SettlementOutcome
  /** Orders of the match that were blamed: those of which a refusal was counted, and those that were cancelled. */
  readonly counted: readonly string[]
  readonly cancelled: readonly string[]
}

/**
 * The real step of several markets and the executor's real judgement of their matches, in one process on the simulator's
 * chain. Blocks, passes of the queue and observations come when the test says so, and nothing is lost or delayed.
 */
export class MarketsRig {
  readonly world: World = createWorld()
  readonly deferred: string[] = []
  readonly reported: Reported[] = []
  private readonly chain
  private readonly client: ChainClient
  private readonly states: ReadonlyMap<Market, MatcherState>
  private readonly journal = openMemoryJournal()
  private readonly waiting: QueuedSettlement[] = []
  private readonly mined = new Map<string, MinedTransaction>()
  private readonly waiters = new Map<string, (transaction: MinedTransaction) => void>()
  private readonly groups: GroupDeps
  private readonly execute
  private readonly failures: Error[] = []
  private commands = 0
  private asked = 0
  private answered = 0

  constructor(options: RigOptions) {
    const { seed, markets, batches } = options
    this.chain = createChain({
      world: this.world,
      random: createRandom(seed),
      sender: signer.address,
      matchGas: 300_000n,
      genesis: (state) => {
        options.genesis(state)
        allow(state, batches ? AT.batchExecutor : AT.matching, signer.address)
        if (batches) allow(state, AT.matching, AT.batchExecutor)
      },
    })
    this.client = clientOf(this.chain)
    this.states = new Map(markets.map((market) => [market, emptyMatcherState(openingOf(market))]))
    this.groups = this.openGroups(batches)
    const findGuilty = createGuiltyFinder({
      client: this.client,
      deployment,
      markets,
      sender: signer.address,
    })
    this.execute = createExecute({
      matching: AT.matching,
      markets,
      journal: this.journal,
      txSender: this.groups.txSender,
      queue: {
        submit: (settlement) =>
          new Promise((resolve, reject) => {
            this.waiting.push({ settlement, resolve, reject, deferrals: 0 })
          }),
      },
      findGuilty: (match, revert, at) => {
        options.beforeBlame()
        return findGuilty(match, revert, at)
      },
      readMark: createMarkReader(this.client, markets),
      readGasUse: createGasUseReader({
        client: this.client,
        batchExecutor: batches ? AT.batchExecutor : undefined,
        onUnreadable: this.groups.facts.unreadableReceipt,
      }),
      gasTokenPrice: quoteE18(0n),
      lostGas: createLostGas({ budget: 3_000_000n, facts: this.groups.facts }),
      onVenueFault: (market, _, revert) => {
        throw new Error(`${market} is held for ${revert}`)
      },
      timeoutMs: TIMEOUT_MS,
      facts: this.groups.facts,
    }).execute
  }

  private openGroups(batches: boolean): GroupDeps {
    const { client, journal } = this
    const sender = signer.address
    return {
      journal,
      book: createInFlightBook(),
      txSender: this.openTransactionSender(),
      facts: {
        ...observeExecutor(createLog('test', 'silent')),
        deferred: (settlementId) => void this.deferred.push(settlementId),
      },
      packer: batches
        ? packBatches({ client, batchExecutor: AT.batchExecutor, sender })
        : packSingly({ client, matching: AT.matching, sender }),
      isUnchanged: (head) => isUnchanged(client, sender, head),
      readClaims: createClaimReader({ client, deployment }),
      readCode: createCodeReader(client),
    }
  }

  /** Signs and sends as the sender does; what is mined is known with the block. */
  private openTransactionSender(): TransactionSender {
    const nonces = openKeyNonces({ signer, journal: this.journal, minedNonces: 0 })
    const txSender: Partial<TransactionSender> = {
      address: signer.address,
      readGas: () =>
        Promise.resolve({
          ...GAS,
          baseFeePerGas: 1n,
          blockGasLimit: 60_000_000n,
          balance: 10n ** 24n,
        }),
      shortage: () => undefined,
      take: (call) => {
        const transaction = nonces.take(call)
        for (const { raw } of transaction.attempts) this.chain.send(raw)
        return transaction
      },
      waitFor: (intentId) => {
        const known = this.mined.get(intentId)
        if (known !== undefined) return Promise.resolve(known)
        return new Promise((resolve) => void this.waiters.set(intentId, resolve))
      },
      wasTaken: () => true,
    }
    return txSender as TransactionSender
  }

  /** At the newest block. */
  balance(account: bigint, asset: Address): bigint {
    return balanceOf(this.chain.head().state, account, asset)
  }

  stateOf(market: Market): MatcherState {
    const state = this.states.get(market)
    if (state === undefined) throw new Error(`${market.market} is not on this rig`)
    return state
  }

  /** Logs a command, and asks the executor to settle what it matched. */
  apply(market: Market, command: Command): AppliedCommand {
    const state = this.stateOf(market)
    this.commands += 1
    const logged = { source: 'test', sourceNo: this.commands, atMs: this.world.nowMs(), command }
    const applied = applyCommand(state, logged)
    checkBook(state)
    for (const change of applied.changes) {
      if (change.kind === 'OrderMatched') this.settle(market, change.match)
    }
    if (applied.moreIsDue) this.apply(market, { kind: 'Tick' })
    return applied
  }

  /** Places an order of a wallet contract unless intake would refuse it. */
  async place(market: Market, order: Order): Promise<void> {
    const { subaccountId } = order
    const signed = signedByWallet(market, order)
    const observed = await this.observeMarket(market)
    const account = await this.readAccount(market, subaccountId)
    const admitted = { market, order: signed, account, observed }
    const { admission = [] } = tradingOf(market)
    if (admission.some((check) => check(admitted) !== undefined)) return
    this.apply(market, { kind: 'PlaceOrder', order: signed, account })
  }

  /** Logs the market at the newest block, where it has facts. */
  async observeMarket(market: Market) {
    const observation = await observeMarket(this.deps, market, await this.head(), this.nowMs())
    if (observation !== undefined) this.apply(market, { kind: 'MarketObserved', observation })
    this.apply(market, { kind: 'Tick' })
    return observation
  }

  /** Logs an account at the newest block, in each of the markets that it may trade in. */
  async observeAccount(subaccountId: bigint, markets: readonly Market[]): Promise<void> {
    for (const market of markets) {
      const account = await this.readAccount(market, subaccountId)
      this.apply(market, { kind: 'AccountObserved', account })
    }
  }

  /** One group of the executor's queue; whether there was one. */
  async pass(): Promise<boolean> {
    const head = await readSenderHead(this.client, signer.address)
    const { maxGroup } = this.groups.packer
    const due = this.waiting.filter(({ waitsFor = -1 }) => waitsFor < head.count)
    const group = due.slice(0, maxGroup)
    if (group.length === 0) return false
    const kept = await settleGroup(this.groups, head, group, due.length > group.length)
    for (const one of group) {
      if (!kept.includes(one)) this.waiting.splice(this.waiting.indexOf(one), 1)
    }
    await this.calm()
    return true
  }

  /** Mines a block, and reports what it shows of the matches. */
  async mine(): Promise<void> {
    this.mineUnseen()
    await this.calm()
  }

  /** The same for a caller that cannot wait for what follows of it. */
  mineUnseen(): void {
    this.chain.mine()
    const { receipts, hash: blockHash, number } = this.chain.head()
    for (const receipt of receipts) {
      const { hash } = receipt.transaction
      const found = this.journal
        .unsettledTransactions(signer.address)
        .find(({ transaction }) => transaction.evmNonce === receipt.transaction.nonce)
      for (const [at, intentId] of (found?.transaction.intentIds ?? []).entries()) {
        const inclusion = { hash, blockHash, blockNumber: BigInt(number) }
        const transaction = { ...inclusion, ...outcomeAt(receipt, at) }
        this.mined.set(intentId, transaction)
        this.waiters.get(intentId)?.(transaction)
      }
    }
  }

  /** Matches whose outcome is not known. */
  pending(): number {
    return this.asked - this.answered
  }

  async passTime(ms: number): Promise<void> {
    await this.world.run(ms)
  }

  close(): void {
    this.journal.close()
  }

  private readonly nowMs = (): number => this.world.nowMs()

  private get deps() {
    return { client: this.client, deployment }
  }

  private head() {
    return this.client.getBlock()
  }

  private async readAccount(market: Market, subaccountId: bigint) {
    const block = await this.head()
    const seen = await observeMarket(this.deps, market, block, this.nowMs())
    return observeAccount(this.deps, market, subaccountId, { ...block, seen: seen?.facts })
  }

  private settle(market: Market, match: Match): void {
    const { orders } = this.stateOf(market)
    const maker = orders.get(match.makerOrderId)
    const taker = orders.get(match.takerOrderId)
    if (maker === undefined || taker === undefined) throw new Error('a match of unknown orders')
    const request = executeRequest(market, match, maker.order, taker.order)
    this.asked += 1
    this.execute(executePayload.parse(request), match.settlementId)
      .then((answer) => this.report(market, match, outcomeOf(answer)))
      .catch((error: Error) => void this.failures.push(error))
  }

  /** Puts the outcome into the market's log. */
  private report(market: Market, match: Match, outcome: SettlementOutcome): void {
    const { orders } = this.stateOf(market)
    this.answered += 1
    const pair = [match.makerOrderId, match.takerOrderId].flatMap((id) => orders.get(id) ?? [])
    const before = new Map(pair.map((live) => [live, { ...live }]))
    const { settlementId } = match
    this.apply(market, { kind: 'SettlementReported', settlementId, outcome })
    const guilty = outcome.kind === 'reverted' ? outcome.guilty : 'venue'
    const blamed = pair.filter(({ orderId }) => {
      const side = orderId === match.makerOrderId ? 'maker' : 'taker'
      return guilty === side || guilty === 'both' || guilty === 'unclear'
    })
    const idsWhere = (isSo: (live: LiveOrder, was: LiveOrder | undefined) => boolean) =>
      blamed.filter((live) => isSo(live, before.get(live))).map(({ orderId }) => orderId)
    this.reported.push({
      market: market.market,
      outcome,
      counted: idsWhere(({ refusals }, was) => refusals !== was?.refusals),
      cancelled: idsWhere(({ gone }, was) => gone === 'cancelled' && was?.gone === undefined),
    })
  }

  /** Lets all that was begun come to its end. */
  private async calm(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn += 1) await new Promise(setImmediate)
    const [failure] = this.failures
    if (failure !== undefined) throw failure
  }
}

function outcomeAt({ revert, tried }: MinedReceipt, at: number) {
  const one = tried?.[at]
  if (revert === undefined && (one === undefined || one.outcome === SUCCESS)) {
    return { status: 'success' as const }
  }
  return { status: 'reverted' as const, revert: revert ?? revertName(one?.revertData ?? '0x') }
}

function outcomeOf(answer: ExecuteAnswer): SettlementOutcome {
  if (answer.kind === 'refused') {
    const { revert, guilty = 'unclear', isSpentElsewhere } = answer
    return {
      kind: 'reverted',
      revert,
      guilty,
      ...(isSpentElsewhere && { spentElsewhere: true }),
    }
  }
  if (answer.kind !== 'mined') throw new Error(`a settlement is ${answer.kind}`)
  const { transaction, guilty = 'unclear', markPrice } = answer
  const { hash: txHash, blockNumber, status, revert = '' } = transaction
  if (status === 'reverted') return { kind: 'reverted', revert, guilty, txHash }
  return { kind: 'success', txHash, blockNumber, ...(markPrice !== undefined && { markPrice }) }
}
