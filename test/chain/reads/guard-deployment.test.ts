import { expect } from 'chai'
import { ChainUnreachable, type ChainClient } from '../../../chain/reads/client.js'
import {
  DeploymentMismatch,
  guardDeployment,
  untilVerified,
} from '../../../chain/reads/deployment.js'
import type { Address, Hex } from '../../../core/action.js'
import { noAnswer } from '../../support/silent-node.js'

const address = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
const contracts = {
  matching: address(1),
  subAccounts: address(2),
  spotTradeModule: address(3),
}

/** A node with code at each of the deployment's addresses. */
function aNode() {
  const node = {
    chainId: 8453,
    allowed: true,
    silent: false,
    code: new Map<Address, Hex | undefined>(),
  }
  const answer = <T>(value: T) =>
    node.silent ? Promise.reject(noAnswer()) : Promise.resolve(value)
  const client = {
    getChainId: () => answer(node.chainId),
    getCode: ({ address: at }: { address: Address }) =>
      answer(node.code.has(at) ? node.code.get(at) : '0x6001'),
    readContract: () => answer(node.allowed),
  }
  const check = guardDeployment(
    client as unknown as ChainClient,
    { chainId: 8453, contracts },
    address(9),
  )
  return {
    node,
    check,
    outcome: () =>
      check().then(
        () => 'passes',
        (error: unknown) => error,
      ),
  }
}

describe('the check that the chain is still the right one', () => {
  it('passes again and again while nothing changes', async () => {
    const { outcome } = aNode()
    expect([await outcome(), await outcome()]).to.deep.equal(['passes', 'passes'])
  })

  it('takes other code than at first for no answer, so that one wrong node ends nothing', async () => {
    const { node, outcome } = aNode()
    await outcome()
    node.code.set(contracts.spotTradeModule, '0x6002')
    const failure = await outcome()
    expect(failure).to.be.instanceOf(ChainUnreachable)
    expect((failure as Error).message).to.include('code of spotTradeModule was replaced')
    node.code.delete(contracts.spotTradeModule)
    expect(await outcome()).to.equal('passes')
  })

  it('fails when one of the contracts is not there', async () => {
    const { node, outcome } = aNode()
    node.code.set(contracts.spotTradeModule, undefined)
    expect(((await outcome()) as Error).message).to.include('no contract at spotTradeModule')
  })

  it('fails on another chain, or without the right of the key, until it has passed once (OPE-032)', async () => {
    const { node, outcome } = aNode()
    node.chainId = 1
    expect(await outcome()).to.be.instanceOf(DeploymentMismatch)
    Object.assign(node, { chainId: 8453, allowed: false })
    expect(await outcome()).to.be.instanceOf(DeploymentMismatch)
    node.allowed = true
    expect(await outcome()).to.equal('passes')
    node.chainId = 1
    expect(await outcome()).to.be.instanceOf(ChainUnreachable)
    Object.assign(node, { chainId: 8453, allowed: false })
    expect(await outcome()).to.be.instanceOf(ChainUnreachable)
  })

  it('ends a start after three mismatches, and not where a node was wrong for a moment', async () => {
    const { node, check } = aNode()
    const told: string[] = []
    let looked = 0
    const start = (rightAt: number) => {
      ;[looked, told.length] = [0, 0]
      const look = () => {
        looked += 1
        node.code.set(contracts.matching, looked >= rightAt ? '0x6001' : undefined)
        return check()
      }
      return untilVerified(look, 1_000, ({ message }) => told.push(message), 1)
    }
    const failure = await start(4).catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(DeploymentMismatch)
    expect([looked, told.length]).to.deep.equal([3, 1])
    await start(3)
    expect(looked).to.equal(3)
  })

  it('cannot say anything while the node is silent', async () => {
    const { node, outcome } = aNode()
    node.silent = true
    expect(await outcome()).to.be.instanceOf(ChainUnreachable)
    node.silent = false
    expect(await outcome()).to.equal('passes')
  })
})
