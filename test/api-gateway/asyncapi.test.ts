import { expect } from 'chai'
import { clientMessagesOf, feedDocument, serverMessagesOf } from '../support/documented-frames.js'
import { signedAuth } from '../support/auth-frames.js'
import { clientFrames, serverFrames } from '../../interface/socket.js'
import { startRig, type FanOutRig } from '../support/fan-out-rig.js'
import { aGatewayStage } from '../support/gateway-stage.js'
import { historyOfTwo } from '../support/two-owners.js'

type Json = Record<string, unknown>
const MARKET = 'cNGN-USDC'

describe('the AsyncAPI document', () => {
  it('is AsyncAPI 3 as far as its parts can be told, and every reference leads somewhere', () => {
    expect(feedDocument.asyncapi).to.equal('3.0.0')
    expect(feedDocument).to.include.keys('info', 'channels', 'operations', 'components')
    const text = JSON.stringify(feedDocument)
    const refs = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path)
    expect(refs.length).to.be.greaterThan(30)
    for (const ref of refs) {
      const found = ref.split('/').reduce<unknown>((at, key) => (at as Json)[key], feedDocument)
      expect(found, ref).to.be.an('object')
    }
    const { operations } = JSON.parse(text) as {
      operations: Record<string, { action: string; messages: { $ref: string }[] }>
    }
    const namesOf = (operation: string) =>
      operations[operation]?.messages.map(({ $ref }) => $ref.split('/').at(-1))
    expect(namesOf('receiveFromClient')).to.deep.equal(Object.keys(clientFrames))
    expect(namesOf('sendToClient')).to.deep.equal(Object.keys(serverFrames))
  })

  it('is served by the gateway', async () => {
    const stage = await aGatewayStage()
    const answer = await stage.send('GET', '/v1/asyncapi.json')
    expect(answer.status).to.equal(200)
    expect(answer.json).to.deep.equal(JSON.parse(JSON.stringify(feedDocument)))
    await stage.close()
  })

  it('finds what is not documented', () => {
    const ack = { type: 'ack', message: 'authenticated' }
    expect(serverMessagesOf(ack)).to.deep.equal(['ack'])
    for (const wrong of [
      { ...ack, more: 1 },
      { ...ack, message: 'welcome' },
      { type: 'update', channel: 'book', market: MARKET, seq: 1 },
      { type: 'error', code: 'oops', message: '' },
    ]) {
      expect(serverMessagesOf(wrong)).to.deep.equal([])
    }
  })

  describe('against live frames', () => {
    let rig: FanOutRig
    before(async () => (rig = await startRig()))
    after(() => rig.end())

    it('describes each kind that a client sends and gets', async () => {
      const client = await rig.connect()
      const subscribe = { op: 'subscribe', market: MARKET }
      const sent = [
        { op: 'ping', req_id: 'a' },
        await signedAuth(),
        { ...subscribe, channel: 'book' },
        { ...subscribe, channel: 'trades' },
        { op: 'subscribe', channel: 'orders', since: { [MARKET]: 0 }, req_id: 'b' },
        { op: 'unsubscribe', channel: 'orders', req_id: 'c' },
        { ...subscribe, channel: 'orders' },
        { ...subscribe, market: 'NOPE', channel: 'book' },
      ]
      for (const frame of sent) {
        expect(clientMessagesOf(frame), JSON.stringify(frame)).to.have.length(1)
        client.send(frame)
      }
      await client.next(({ code }) => code === 'unknown_market')
      await rig.publish(historyOfTwo(10))
      await client.next(({ channel, seq }) => channel === 'book' && seq === 50)
      const again = await rig.connect()
      again.send({ ...subscribe, channel: 'book' })
      again.send({ ...subscribe, channel: 'trades' })
      await again.next(({ channel }) => channel === 'trades')
      const kinds = new Set([...client.frames, ...again.frames].flatMap(serverMessagesOf))
      expect([...kinds]).to.have.members([
        ...['bookSnapshot', 'tradesSnapshot', 'ordersSnapshot'],
        ...['bookUpdate', 'tradesUpdate', 'ordersUpdate'],
        ...['ack', 'pong', 'error'],
      ])
    })
  })
})
