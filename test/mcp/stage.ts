import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { expect } from 'chai'
import { openServer } from '../../mcp/open-server.js'
import type { Options } from '../../mcp/options.js'
import { createSentOrders } from '../../mcp/sent-orders.js'

/** What a tool has answered. */
export interface Answer {
  readonly isRefused: boolean
  readonly json: Readonly<Record<string, unknown>>
}

/** An assistant's program: the client of the protocol's own SDK. */
export interface Assistant {
  readonly client: Client
  call(name: string, args?: Readonly<Record<string, unknown>>): Promise<Answer>
  close(): Promise<void>
}

/** The server in this process, with a client that is connected to it. */
export async function anAssistant(options: Options): Promise<Assistant> {
  const sent = createSentOrders(() => undefined)
  const server = await openServer(options, '0.0.0', sent)
  const [here, there] = InMemoryTransport.createLinkedPair()
  await server.connect(there)
  const client = assistantClient()
  await client.connect(here)
  return assistantOf(client)
}

export const assistantClient = (): Client => new Client({ name: 'test', version: '0.0.0' })

export const assistantOf = (client: Client): Assistant => ({
  client,
  async call(name, args = {}) {
    const result = (await client.callTool({ name, arguments: args })) as CallToolResult
    const [content] = result.content
    expect(content?.type).to.equal('text')
    const text = content?.type === 'text' ? content.text : ''
    return {
      isRefused: result.isError === true,
      json: JSON.parse(text) as Record<string, unknown>,
    }
  },
  close: () => client.close(),
})
