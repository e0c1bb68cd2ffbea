import { expect } from 'chai'
import { RpcRequestError } from 'viem'
import { createChainClient, type ChainClient } from '../../../chain/reads/client.js'
import { callBatchOf } from '../../../chain/reads/call-batch.js'
import { revertOf } from '../../../chain/abi/errors.js'
import type { Address, Hex } from '../../../core/action.js'
import { startAnvil, type Anvil } from '../../support/anvil.js'
import { batchAnswer, batchedCalls } from '../../support/batched-calls.js'
import { noAnswer } from '../../support/silent-node.js'

const addressOf = (number: number): Address => `0x${number.toString(16).padStart(40, 'a')}`
const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`

interface Request {
  readonly method: string
  readonly params: readonly [{ readonly to?: Address; readonly data: Hex }, unknown]
}

/** A client of a node that answers so; `together` is what it makes of the program. */
function aNode(together: (calls: readonly Hex[]) => Hex | Promise<Hex>) {
  const sizes: number[] = []
  const request = async ({ params: [{ to, data }] }: Request): Promise<Hex> => {
    sizes.push(to === undefined ? batchedCalls(data).length : 1)
    return to === undefined ? together(batchedCalls(data).map((call) => call.data ?? '0x')) : data
  }
  const batch = callBatchOf({ request } as unknown as ChainClient)
  const callAll = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, i) => batch.call(addressOf(i), word(i), 'latest')),
    )
  return { batch, sizes, callAll }
}

const words = (count: number): Hex[] => Array.from({ length: count }, (_, i) => word(i))
const refusal = new RpcRequestError({
  body: {},
  url: 'http://node',
  error: { code: -32_000, message: 'no address' },
})

describe('calls of one turn', () => {
  it('share one request for each block, and the same question is asked once', async () => {
    const { batch, sizes } = aNode((calls) => batchAnswer(calls))
    const at = { blockHash: word(7) }
    const asked = [
      batch.call(addressOf(1), word(1), 'latest'),
      batch.call(addressOf(2), word(2), 'latest'),
      batch.call(addressOf(2), word(2), 'latest'),
      batch.call(addressOf(1), word(3), at),
      batch.call(addressOf(1), word(4), at),
    ]
    expect(await Promise.all(asked)).to.deep.equal([1, 2, 2, 3, 4].map(word))
    expect(sizes).to.deep.equal([2, 2])
  })

  it('go by themselves when there is one', async () => {
    const { callAll, sizes } = aNode(() => '0x')
    expect(await callAll(1)).to.deep.equal(words(1))
    expect(sizes).to.deep.equal([1])
  })

  it('wait while a request about the block is in flight, and share the next', async () => {
    let answer: () => void = () => undefined
    const held = new Promise<void>((resolve) => (answer = resolve))
    const { callAll, sizes } = aNode(async (calls) => {
      await held
      return batchAnswer(calls)
    })
    const first = callAll(2)
    await new Promise(setImmediate)
    const others = [callAll(3), callAll(4)]
    await new Promise(setImmediate)
    expect(sizes).to.deep.equal([2])
    answer()
    await Promise.all([first, ...others])
    expect(sizes).to.deep.equal([2, 4])
  })

  it('fill several requests when there are too many for one', async () => {
    const { callAll, sizes } = aNode((calls) => batchAnswer(calls))
    expect(await callAll(3_000)).to.deep.equal(words(3_000))
    expect(sizes.length).to.be.within(3, 4)
  })

  it('are asked again when the node answered the first of them only', async () => {
    const { callAll, sizes } = aNode((calls) => batchAnswer(calls.slice(0, 3)))
    expect(await callAll(8)).to.deep.equal(words(8))
    expect(sizes).to.deep.equal([8, 5, 2])
  })

  it('are asked by themselves where they failed together', async () => {
    const { callAll, sizes } = aNode((calls) =>
      batchAnswer(calls.map((data, i) => (i === 1 ? undefined : data))),
    )
    expect(await callAll(3)).to.deep.equal(words(3))
    expect(sizes).to.deep.equal([3, 1])
  })

  it('are asked by themselves, later ones too, when the node does not run the program', async () => {
    const refuse = (): Hex => {
      throw refusal
    }
    for (const answer of [
      refuse,
      () => word(1),
      () => '0x' as const,
      () => batchAnswer(words(9)),
    ]) {
      const { callAll, sizes } = aNode(answer)
      expect(await callAll(3)).to.deep.equal(words(3))
      expect(await callAll(2)).to.deep.equal(words(2))
      expect(sizes).to.deep.equal([3, 1, 1, 1, 1, 1])
    }
  })

  it('fail together without an answer of the node', async () => {
    const { callAll, sizes } = aNode(() => Promise.reject(noAnswer()))
    const failed = await callAll(3).catch((error: unknown) => error)
    expect(failed).to.include({ details: 'silence' })
    expect(sizes).to.deep.equal([3])
  })
})

describe('calls of one turn on a chain', () => {
  const ANSWERING = addressOf(1)
  const REVERTING = addressOf(2)
  const ENDLESS = addressOf(3)
  const NOTHING = addressOf(4)
  let anvil: Anvil

  before(async () => {
    anvil = await startAnvil()
    const { client } = anvil
    // Returns the data that it was called with; reverts with one word; uses all gas.
    await client.setCode({ address: ANSWERING, bytecode: '0x366000600037366000f3' })
    await client.setCode({ address: REVERTING, bytecode: '0x602a60005260206000fd' })
    await client.setCode({ address: ENDLESS, bytecode: '0x5b600056' })
  })
  after(() => anvil.stop())

  it('have the answers that each has by itself', async () => {
    const client = createChainClient(anvil.rpcUrl, 'read')
    const requests: string[] = []
    const counted = {
      ...client,
      request: (args: { method: string }) => {
        requests.push(args.method)
        return client.request(args as never)
      },
    } as unknown as ChainClient
    const batch = callBatchOf(counted)
    const long: Hex = `0x${'5a'.repeat(700)}`
    const [echo, more, empty, revert, nothing, code, none] = await Promise.all([
      batch.call(ANSWERING, word(5), 'latest'),
      batch.call(ANSWERING, long, 'latest'),
      batch.call(ANSWERING, '0x', 'latest'),
      batch.call(REVERTING, word(1), 'latest').catch(revertOf),
      batch.call(NOTHING, word(1), 'latest'),
      batch.hasCode(REVERTING, 'latest'),
      batch.hasCode(NOTHING, 'latest'),
    ])
    expect([echo, more, empty, nothing]).to.deep.equal([word(5), long, '0x', '0x'])
    expect(revert).to.include({ data: word(42) })
    expect([code, none]).to.deep.equal([true, false])
    expect(requests).to.deep.equal(['eth_call', 'eth_call'])
  })

  it('are answered although one of them uses up the gas, and although the answers are long', async () => {
    const batch = callBatchOf(createChainClient(anvil.rpcUrl, 'read'))
    const long: Hex = `0x${'5a'.repeat(9_000)}`
    const [first, revert, ...others] = await Promise.all([
      batch.call(ANSWERING, word(1), 'latest'),
      batch.call(ENDLESS, word(1), 'latest').catch(revertOf),
      ...Array.from({ length: 6 }, (_, i) => batch.call(ANSWERING, `${long}0${i}`, 'latest')),
    ])
    expect(first).to.equal(word(1))
    expect(revert).not.to.equal(undefined)
    expect(others).to.deep.equal(Array.from({ length: 6 }, (_, i) => `${long}0${i}`))
  })
})
