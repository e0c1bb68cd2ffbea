import { expect } from 'chai'
import { RpcRequestError } from 'viem'
import { createCodeReader } from '../../../chain/reads/code-at-block.js'
import { ChainUnreachable, type ChainClient } from '../../../chain/reads/client.js'
import type { Address, Hex } from '../../../core/action.js'
import { noAnswer } from '../../support/silent-node.js'

const of = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
const BLOCK: Hex = '0xb1'
const refused = new RpcRequestError({
  url: 'http://node',
  body: {},
  error: { code: -32_601, message: 'no such method' },
})

describe('the signers that are code at a block', () => {
  let asked: Address[]
  let isSilent: boolean
  /** A node without the program of a batch, so that each address is asked for by itself; odd ones have code. */
  const request = ({ method, params }: { method: string; params: [Address, unknown] }) => {
    if (isSilent) return Promise.reject(noAnswer())
    if (method !== 'eth_getCode') return Promise.reject(refused)
    const [address] = params
    asked.push(address)
    return Promise.resolve(BigInt(address) % 2n === 1n ? '0x60' : '0x')
  }
  const reader = () => createCodeReader({ request } as unknown as ChainClient)

  beforeEach(() => {
    asked = []
    isSilent = false
  })

  it('are asked for once in a block, each of them', async () => {
    const read = reader()
    expect(await read([of(1), of(2), of(1)], BLOCK)).to.deep.equal(new Set([of(1)]))
    expect(await read([of(2), of(3)], BLOCK)).to.deep.equal(new Set([of(3)]))
    expect(asked).to.deep.equal([of(1), of(2), of(3)])
    await read([of(1)], '0xb2')
    expect(asked).to.have.length(4)
  })

  it('are not known without an answer, and asked for again', async () => {
    const read = reader()
    isSilent = true
    const error = await read([of(1)], BLOCK).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(ChainUnreachable)
    isSilent = false
    expect(await read([of(1)], BLOCK)).to.deep.equal(new Set([of(1)]))
  })
})
