import type {
  ChannelData,
  ChannelHandler,
  ChannelOptions,
  SocketClient,
} from '../../../client/index.js'

interface Followed {
  readonly channel: keyof ChannelData
  readonly market: string | undefined
  readonly options: ChannelOptions
  readonly handler: unknown
}

/** A socket whose frames a test hands on by itself. */
export function fakeSocket() {
  let streams: readonly Followed[] = []
  const follow = (stream: Followed): (() => void) => {
    streams = [...streams, stream]
    return () => (streams = streams.filter((one) => one !== stream))
  }
  const socket: Pick<SocketClient, 'subscribe' | 'subscribeBalances' | 'connections'> = {
    subscribe: (channel, market, handler, options = {}) =>
      follow({ channel, market, options, handler }),
    subscribeBalances: (handler) =>
      follow({ channel: 'balances', market: undefined, options: {}, handler }),
    connections: () => 1,
  }
  return {
    ...socket,
    /** The handler of a channel. Throws where it is not followed. */
    of<Channel extends keyof ChannelData>(
      channel: Channel,
      market?: string,
    ): ChannelHandler<Channel> {
      const found = streams.find(
        (one) => one.channel === channel && (market === undefined || one.market === market),
      )
      if (found === undefined) throw new Error(`${channel} is not followed`)
      return found.handler as ChannelHandler<Channel>
    },
    followed: (): readonly string[] =>
      streams.map(({ channel, options }) => `${channel} ${options.interval ?? ''}`.trim()),
  }
}
