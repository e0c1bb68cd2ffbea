import { expect } from 'chai'
import type { IncomingMessage } from 'node:http'
import { clientAddress, clientKey } from '../../../runtime/http/connections.js'

const from = (peer: string | undefined, forwarded?: string) =>
  ({
    socket: { remoteAddress: peer },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as IncomingMessage

describe('the address of a client', () => {
  it('is the peer, whatever the client claims, without proxies', () => {
    expect(clientAddress(from('10.0.0.1'), 0)).to.equal('10.0.0.1')
    expect(clientAddress(from('10.0.0.1', '6.6.6.6'), 0)).to.equal('10.0.0.1')
    expect(clientAddress(from(undefined), 0)).to.equal('unknown')
  })

  it('is the entry that the outermost proxy wrote', () => {
    const request = from('10.0.0.1', '6.6.6.6, 203.0.113.9,10.0.0.2')
    expect(clientAddress(request, 1)).to.equal('10.0.0.2')
    expect(clientAddress(request, 2)).to.equal('203.0.113.9')
  })

  it('is the peer when the proxies did not write that many', () => {
    expect(clientAddress(from('10.0.0.1', '203.0.113.9'), 2)).to.equal('10.0.0.1')
    expect(clientAddress(from('10.0.0.1'), 1)).to.equal('10.0.0.1')
  })

  it('counts as one client with its IPv6 network', () => {
    expect(clientKey('203.0.113.9')).to.equal('203.0.113.9')
    expect(clientKey('::ffff:203.0.113.9')).to.equal('203.0.113.9')
    expect(clientKey('2001:db8:0:1::1')).to.equal('2001:db8:0:1::/64')
    expect(clientKey('2001:0db8::1:2:3:4:5')).to.equal('2001:db8:0:1::/64')
    expect(clientKey('2001:db8::1')).to.equal('2001:db8:0:0::/64')
    expect(clientKey('::1')).to.equal('0:0:0:0::/64')
    expect(clientKey('unknown')).to.equal('unknown')
  })
})
