import { expect } from 'chai'
import type { ChainClient } from '../../../chain/reads/client.js'
import { createAccountReader } from '../../../chain/reads/read-account.js'
import type { Address } from '../../../core/action.js'

const MATCHING: Address = `0x${'AB'.repeat(20)}`
const OWNER: Address = `0x${'CD'.repeat(20)}`
const OTHER: Address = `0x${'ee'.repeat(20)}`
const MANAGER: Address = `0x${'FA'.repeat(20)}`
const lower = (address: Address) => address.toLowerCase()

interface Asked {
  readonly functionName: string
  readonly args?: readonly unknown[]
}

/** Reads from contracts that answer so; addresses come in the mixed case that a client gives. */
function readerOf(answers: Readonly<Record<string, unknown>>, cacheMs = 0) {
  const asked: Asked[] = []
  const readContract = ({ functionName, args = [] }: Asked) => {
    asked.push({ functionName, args })
    return Promise.resolve(answers[functionName])
  }
  const reader = createAccountReader({
    client: { readContract } as unknown as ChainClient,
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
