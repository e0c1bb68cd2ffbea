import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildMcp } from '../../devnet/build-mcp.js'
import { assistantClient, assistantOf, type Assistant } from '../mcp/stage.js'
import { sharedVenue } from './stage/shared-venue.js'

describe('an assistant on a running venue', () => {
  let work: string
  let assistant: Assistant
  let owner: string
  before(async () => {
    const { gatewayUrl, devnet } = await sharedVenue()
    work = await mkdtemp(join(tmpdir(), 'mcp-'))
    await buildMcp(join(work, 'package'))
    const account = devnet.accounts[4]
    owner = account?.address ?? ''
    const keyFile = join(work, 'key')
    await writeFile(keyFile, account?.private_key ?? '', { mode: 0o600 })
    const args = [join(work, 'package/lib/main.js'), '--venue', gatewayUrl, '--key-file', keyFile]
    const client = assistantClient()
    const trade = [...args, '--trade', '--max-notional', '5']
    await client.connect(new StdioClientTransport({ command: process.execPath, args: trade }))
    assistant = assistantOf(client)
  })
  after(async () => {
    await assistant?.close()
    await rm(work, { recursive: true, force: true })
  })

  it('places, finds and cancels an order of the owner of its key', async () => {
    expect(assistant.client.getInstructions()?.toLowerCase()).to.include(owner.toLowerCase())
    const terms = { market: 'cNGN-USDC', side: 'buy', price: '0.0001', amount: '2000' }
    const verdict = await assistant.call('validateOrder', terms)
    expect(verdict.json).to.include({ valid: true })
    const order_id = `assistant-${Date.now()}`
    const placed = await assistant.call('placeOrder', { ...terms, order_id })
    expect(placed.json.order).to.include({ order_id, status: 'active' })
    const { json } = await assistant.call('listOrders', { status: 'open' })
    const ids = (json.orders as readonly { order_id: string }[]).map((each) => each.order_id)
    expect(ids).to.deep.equal([order_id])
    const balances = await assistant.call('listBalances')
    expect(balances.json.accounts).to.have.length.above(0)
    // The same scope twice within a second: each proof counts.
    const cancels = [await assistant.call('cancelAll'), await assistant.call('cancelAll')]
    expect(cancels.map(({ isRefused }) => isRefused)).to.deep.equal([false, false])
    const { json: found } = await assistant.call('lookUpOrder', { order_id })
    expect(found.order).to.include({ status: 'cancelled', final: true })
  })

  it('sends no order beyond its bound', async () => {
    const terms = { market: 'cNGN-USDC', side: 'buy', price: '0.0001', amount: '50010' }
    const { isRefused, json } = await assistant.call('placeOrder', terms)
    expect([isRefused, json.code]).to.deep.equal([true, 'above_max_notional'])
    const { json: own } = await assistant.call('listOrders', { status: 'open' })
    expect(own.orders).to.deep.equal([])
  })
})
