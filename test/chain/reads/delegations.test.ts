import { expect } from 'chai'
import { privateKeyToAccount } from 'viem/accounts'
import { readHead } from '../../../chain/reads/blocks.js'
import { ChainUnreachable, createChainClient } from '../../../chain/reads/client.js'
import { readDelegations } from '../../../chain/reads/delegations.js'
import type { Address, Hex } from '../../../core/action.js'
import { startAnvil, type Anvil } from '../../support/anvil.js'
import { testPrivateKey } from '../../support/builders.js'
import { delegate } from '../../support/test-wallets.js'

const key = privateKeyToAccount(testPrivateKey).address.toLowerCase() as Address
const CODE: Address = `0x${'cc'.repeat(20)}`
const OTHER_HASH: Hex = `0x${'ab'.repeat(32)}`
const NO_CODE: Address = `0x${'00'.repeat(20)}`

describe('the keys that blocks gave code to', function () {
  let anvil: Anvil

  before(async () => {
    anvil = await startAnvil()
  })
  after(() => anvil.stop())

  const client = () => createChainClient(anvil.rpcUrl, 'probe')
  const hasCode = async () => (await anvil.client.getCode({ address: key })) !== undefined

  it('are the signers of their authorizations, to set code and to clear it', async () => {
    const { number: before } = await readHead(client())
    await delegate(anvil.client, testPrivateKey, CODE)
    expect(await hasCode()).to.equal(true)
    const delegated = await readHead(client())
    expect(await readDelegations(client(), before + 1n, delegated)).to.deep.equal([key])
    await delegate(anvil.client, testPrivateKey, NO_CODE)
    expect(await hasCode()).to.equal(false)
    const cleared = await readHead(client())
    expect(await readDelegations(client(), cleared.number, cleared)).to.deep.equal([key])
    await anvil.client.mine({ blocks: 1 })
    const empty = await readHead(client())
    expect(await readDelegations(client(), empty.number, empty)).to.deep.equal([])
    expect(await readDelegations(client(), before + 1n, empty)).to.deep.equal([key])
  })

  it('are not known of another block than the head, nor of very many blocks', async () => {
    await anvil.client.mine({ blocks: 16 })
    const head = await readHead(client())
    expect(await readDelegations(client(), head.number - 15n, head)).to.deep.equal([])
    expect(await readDelegations(client(), head.number - 16n, head)).to.equal(undefined)
    const other = { ...head, hash: OTHER_HASH }
    expect(await readDelegations(client(), head.number, other)).to.equal(undefined)
  })

  it('are not known while the chain does not answer', async () => {
    const head = await readHead(client())
    const silent = createChainClient('http://127.0.0.1:1', 'probe')
    const error: unknown = await readDelegations(silent, head.number, head).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).to.be.instanceOf(ChainUnreachable)
  })
})
