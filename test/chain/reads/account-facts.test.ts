import { expect } from 'chai'
import { getAddress } from 'viem'
import type { ChainClient } from '../../../chain/reads/client.js'
import { createAccountReader } from '../../../chain/reads/read-account.js'
import { matchingAbi, subAccountsAbi } from '../../../chain/abi/contracts.js'
import type { Address, Hex } from '../../../core/action.js'
import { contractInterface } from '../../sim/contract-interface.js'
import { batchAnswer, batchedCalls, type BatchedCall } from '../../support/batched-calls.js'

const MATCHING: Address = getAddress(`0x${'ab'.repeat(20)}`)
const OWNER: Address = getAddress(`0x${'cd'.repeat(20)}`)
const OTHER: Address = `0x${'ee'.repeat(20)}`
const MANAGER: Address = getAddress(`0x${'fa'.repeat(20)}`)
const lower = (address: Address) => address.toLowerCase()

interface Asked {
  readonly functionName: string
  readonly args?: readonly unknown[]
}

const functions = contractInterface([...matchingAbi, ...subAccountsAbi])

/** Reads from contracts that answer so. */
function readerOf(answers: Readonly<Record<string, unknown>>, cacheMs = 0) {
  const asked: Asked[] = []
  const readContract = ({ functionName, args = [] }: Asked) => {
    asked.push({ functionName, args })
    return Promise.resolve(answers[functionName])
  }
  const answer = ({ data = '0x' }: BatchedCall): Hex => {
    const { name, args, result } = functions.read(data)
    asked.push({ functionName: name, args })
    return result(answers[name])
  }
  const request = ({ params: [{ data }] }: { params: readonly [{ readonly data: Hex }] }) =>
    Promise.resolve(batchAnswer(batchedCalls(data).map(answer)))
  const reader = createAccountReader({
    client: { readContract, request } as unknown as ChainClient,
    deployment: { matching: MATCHING, subAccounts: OTHER },
    cacheMs,
  })
  return { reader, asked }
}

const HELD = {
  subAccountToOwner: OWNER,
  withdrawTimestamp: 7n,
  ownerOf: lower(MATCHING),
  manager: MANAGER,
}

describe('facts about an account', () => {
  it('have their addresses in lower case, and custody whatever the case', async () => {
    const { reader, asked } = readerOf(HELD)
    expect(await reader.readAccount(9n)).to.deep.equal({
      recordedOwner: lower(OWNER),
      inCustody: true,
      manager: lower(MANAGER),
      withdrawRequestedAtSec: 7n,
    })
    expect(asked.map(({ args }) => args)).to.deep.equal(Array(4).fill([9n]))
  })

  it('deny custody of an account that another address holds', async () => {
    const { reader } = readerOf({ ...HELD, ownerOf: OTHER })
    expect(await reader.readAccount(9n)).to.include({ inCustody: false })
  })

  it('are of the key and the owner that were asked for, in the contract’s order', async () => {
    const { reader, asked } = readerOf({ sessionKeys: 0n })
    expect(await reader.readSessionKeyExpiry(OWNER, OTHER)).to.equal(0n)
    expect(asked).to.deep.equal([{ functionName: 'sessionKeys', args: [OTHER, OWNER] }])
  })

  it('are kept for each account and each pair of owner and key by itself', async () => {
    const { reader, asked } = readerOf({ ...HELD, sessionKeys: 0n }, 60_000)
    await reader.readSessionKeyExpiry(OWNER, OTHER)
    await reader.readSessionKeyExpiry(OTHER, OWNER)
    await reader.readSessionKeyExpiry(OWNER, OTHER)
    expect(asked).to.have.length(2)
    await reader.readAccount(1n)
    await reader.readAccount(2n)
    await reader.readAccount(1n)
    expect(asked).to.have.length(2 + 8)
  })
})
