import { expect } from 'chai'
import { Docket } from '../../../actors/keeper/docket.js'
import { createRound } from '../../../actors/keeper/round.js'
import { Unread } from '../../../actors/keeper/unread.js'
import type { ChainClient } from '../../../chain/reads/client.js'
import type { Address } from '../../../core/action.js'
import type { Job } from '../../../core/contracts/upkeep.js'
import type { Transactions } from '../../../actors/transfer-submitter/transactions.js'
import type { UpkeepCall } from '../../../chain/contracts/chain-contract.js'

const address = (digit: string): Address => `0x${digit.repeat(40)}`
const nothing = (): void => undefined
const receipt = {
  ...{ gasUsed: '0x1', effectiveGasPrice: '0x1' },
  ...{ blockHash: `0x${'5'.repeat(64)}`, logs: [] },
}

/** A chain on which every call passes and stays without effect: what is due remains due. */
function createStage() {
  let number = 0n
  const sent = new Map<string, bigint>()
  const kept: [Job, bigint | undefined][] = []
  const answers: Readonly<Record<string, unknown>> = {
    ...{ eth_call: '0x', eth_estimateGas: '0x5208' },
    eth_getTransactionReceipt: receipt,
  }
  const client = {
    getBlock: () =>
      Promise.resolve({
        ...{ number, hash: `0x${number.toString(16).padStart(64, '0')}` },
        timestamp: 1_000n + number,
      }),
    request: ({ method }: { method: string }) => Promise.resolve(answers[method]),
  }
  const docket = new Docket<UpkeepCall>()
  const due: Job[] = ['variation', 'funding']
  const task: UpkeepCall = { to: address('a'), data: '0x' }
  const transactions = {
    address: address('b'),
    shortage: nothing,
    unsettledIntents: () => [...sent.keys()],
    stateOf(intentId: string) {
      const blockNumber = sent.get(intentId)
      if (blockNumber === undefined) return undefined
      return {
        ...{ kind: 'mined', transaction: { blockNumber, status: 'success', hash: intentId } },
      }
    },
    send: ({ intentId }: { intentId: string }) => sent.set(intentId, number + 1n),
  } as unknown as Transactions
  const asked: (bigint | undefined)[] = []
  const round = createRound({
    ...{ client: client as unknown as ChainClient, docket, transactions, markets: () => [] },
    deployment: { matching: address('1'), subAccounts: address('2') },
    unread: new Unread({ unreadable: nothing }),
    gas: {
      ...{ read: () => Promise.resolve({ maxFeePerGas: 1n } as never), paid: nothing },
      pauseFor(_cost, _facts, keptWei) {
        asked.push(keptWei)
        return undefined
      },
    },
    ofMarketsWei: 5n,
    facts: {
      ...{ refused: nothing, confirmed: nothing, lost: nothing, unreadable: nothing },
      sent: (job) => kept.push([job, asked.at(-1)]),
    },
    stopping: new AbortController().signal,
  })
  const atBlock = async (next: bigint): Promise<void> => {
    number = next
    const duties = due.map((job) => ({ job, subject: job, sinceSec: 900, task }))
    docket.observe('one', duties, Number(1_000n + number))
    await round()
  }
  /** Each job that was sent, with what it had to leave of the budget. */
  return { kept, atBlock }
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
})
