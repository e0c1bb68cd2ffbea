import { expect } from 'chai'
import { Docket } from '../../../actors/keeper/docket.js'
import { createRound } from '../../../actors/keeper/round.js'
import { SeenHead, UnreadContracts } from '../../../actors/keeper/unread.js'
import { ChainUnreachable, type ChainClient } from '../../../chain/reads/client.js'
import type { UpkeepCall } from '../../../chain/contracts/chain-contract.js'
import { subAccountsAbi } from '../../../chain/abi/contracts.js'
import { selectorsOf } from '../../../chain/abi/selectors.js'
import { READ_AT_ONCE } from '../../../chain/contracts/holders.js'
import type { Address } from '../../../core/action.js'
import type { Market } from '../../../core/model/market.js'
import { aPerp } from '../../support/builders.js'
import { aScriptedChain } from '../../support/scripted-chain.js'
import type { Duty, Job } from '../../../core/contracts/upkeep.js'
import type { Transactions } from '../../../actors/sending/transactions.js'

const address = (digit: string): Address => `0x${digit.repeat(40)}`
const nothing = (): void => undefined
const of = selectorsOf(subAccountsAbi, 'lastAccountId', 'manager')
const receipt = {
  gasUsed: '0x1',
  effectiveGasPrice: '0x1',
  blockHash: `0x${'5'.repeat(64)}`,
  logs: [],
}

/** A chain on which every call passes and stays without effect: what is due remains due. */
/** With the markets on a chain of their own, which has nothing but accounts of other managers. */
function createStage(leftOpen: readonly string[] = [], kept?: readonly [ChainClient, Market]) {
  let number = 0n
  /** Calls to these the node does not answer. */
  const silent = new Set<unknown>()
  const sent = new Map<string, bigint>(leftOpen.map((intentId) => [intentId, 1n]))
  const final = new Set<string>()
  const paid: string[] = []
  const sentJobs: [Job, bigint | undefined][] = []
  const answers: Record<string, unknown> = {
    eth_call: '0x',
    eth_estimateGas: '0x5208',
    eth_getTransactionReceipt: receipt,
  }
  const client = {
    getBlock: () =>
      Promise.resolve({
        number,
        hash: `0x${number.toString(16).padStart(64, '0')}`,
        timestamp: 1_000n + number,
      }),
    request: ({ method, params }: { method: string; params: readonly { to?: unknown }[] }) =>
      silent.has(params[0]?.to)
        ? Promise.reject(new ChainUnreachable('no answer'))
        : Promise.resolve(answers[method]),
  }
  const docket = new Docket<UpkeepCall>()
  const due: Job[] = ['variation', 'funding']
  const dutyOf = (job: Job): Duty<UpkeepCall> => {
    const task = { to: address(job === 'funding' ? 'f' : 'a'), data: '0x' } as const
    return { job, subject: job, sinceSec: 900, task }
  }
  const transactions = {
    address: address('b'),
    shortage: nothing,
    unsettledIntents: () => [...sent.keys()].filter((intentId) => !final.has(intentId)),
    stateOf(intentId: string) {
      const blockNumber = sent.get(intentId)
      if (blockNumber === undefined) return undefined
      return {
        kind: 'mined',
        transaction: { blockNumber, status: 'success', hash: intentId },
      }
    },
    send: ({ intentId }: { intentId: string }) => sent.set(intentId, number + 1n),
  } as unknown as Transactions
  const asked: (bigint | undefined)[] = []
  const stopping = new AbortController()
  const seen = new SeenHead()
  const read = { money: () => Promise.resolve({ maxFeePerGas: 1n } as never) }
  const round = createRound({
    client: kept?.[0] ?? (client as unknown as ChainClient),
    docket,
    transactions,
    markets: () => (kept === undefined ? [] : [kept[1]]),
    leftOpen,
    deployment: { matching: address('1'), subAccounts: address('2') },
    unread: new UnreadContracts({ unreadable: nothing }),
    seen,
    gas: {
      read: () => read.money(),
      paid: (hash) => paid.push(hash),
      pauseFor(_cost, _facts, keptWei) {
        asked.push(keptWei)
        return undefined
      },
    },
    ofMarketsWei: 5n,
    rescue: { accounts: [], mostUsd: 0n },
    calendar: 'none',
    facts: {
      refused: nothing,
      confirmed: nothing,
      lost: nothing,
      unreadable: nothing,
      sent: (job) => sentJobs.push([job, asked.at(-1)]),
    },
    stopping: stopping.signal,
  })
  const atBlock = async (next: bigint): Promise<void> => {
    number = next
    docket.observe('one', due.map(dutyOf), Number(1_000n + number))
    await round()
  }
  /** Each job that was sent, with what it had to leave of the budget. */
  return { round, seen, kept: sentJobs, atBlock, due, silent, read, stopping, final, paid, answers }
}

describe("the keeper's round", () => {
  it('does work of markets first, and leaves their part of the budget to them', async () => {
    const { kept, atBlock } = createStage()
    await atBlock(1n)
    expect(kept).to.deep.equal([
      ['funding', 0n],
      ['variation', 5n],
    ])
  })

  it('does not send at each block what a success has left due', async () => {
    const { kept, atBlock } = createStage()
    const jobs = () => kept.splice(0).map(([job]) => job)
    await atBlock(1n)
    expect(jobs()).to.deep.equal(['funding', 'variation'])
    for (let block = 2n; block < 12n; block += 1n) await atBlock(block)
    expect(jobs()).to.deep.equal([])
    await atBlock(12n)
    expect(jobs()).to.deep.equal(['funding'])
    await atBlock(302n)
    expect(jobs()).to.include('variation')
  })

  it('goes on with what is due behind a question that the node does not answer', async () => {
    const { kept, atBlock, silent } = createStage()
    silent.add(address('f'))
    await atBlock(1n)
    expect(kept.map(([job]) => job)).to.deep.equal(['variation'])
    silent.clear()
    await atBlock(2n)
    expect(kept.map(([job]) => job)).to.deep.equal(['variation'])
    // After its rest.
    await atBlock(11n)
    expect(kept.map(([job]) => job)).to.deep.equal(['variation', 'funding'])
  })

  it('books once what the keeper before left open, though it has become final since', async () => {
    const intentId = 'one/funding/funding/1'
    const { atBlock, final, paid } = createStage([intentId])
    final.add(intentId)
    await atBlock(2n)
    await atBlock(3n)
    expect(paid.filter((hash) => hash === intentId)).to.have.length(1)
  })

  it('books what becomes final before its receipt can be read', async () => {
    const { atBlock, final, paid, answers } = createStage()
    await atBlock(1n)
    const intentId = 'one/funding/funding/1'
    answers.eth_getTransactionReceipt = null
    await atBlock(2n)
    expect(paid).to.deep.equal([])
    final.add(intentId)
    answers.eth_getTransactionReceipt = receipt
    await atBlock(3n)
    expect(paid).to.include(intentId)
  })

  it('sends nothing for what is answered after the stop', async () => {
    const { kept, atBlock, read, stopping } = createStage()
    const { money } = read
    read.money = () => {
      stopping.abort()
      return money()
    }
    await atBlock(1n)
    expect(kept).to.deep.equal([])
  })

  it('goes on at the same block while accounts are left to read, says then that it has seen it, and looks no more', async () => {
    const count = BigInt(READ_AT_ONCE + 1)
    const chain = aScriptedChain(({ data }) => [data.startsWith(of.lastAccountId) ? count : 0n])
    const { round, seen } = createStage([], [chain.client, aPerp()])
    const looks: number[] = []
    const isSeen: boolean[] = []
    for (let look = 0; look < 3; look += 1) {
      await round()
      isSeen.push(seen.number !== undefined)
      looks.push(chain.calls.splice(0).filter(({ data }) => data.startsWith(of.manager)).length)
    }
    expect(looks).to.deep.equal([READ_AT_ONCE, 1, 0])
    expect(isSeen).to.deep.equal([false, true, true])
  })

  it('rejects where the node leaves several questions without an answer', async () => {
    const { kept, atBlock, silent, due } = createStage()
    silent.add(address('a'))
    due.splice(0, due.length, 'mark', 'settlement', 'retirement', 'variation')
    const outcome = await atBlock(1n).catch((error: unknown) => error)
    expect(outcome).to.be.instanceOf(ChainUnreachable)
    expect(kept).to.deep.equal([])
  })
})
