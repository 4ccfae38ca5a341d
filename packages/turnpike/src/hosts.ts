/** The URLs of the hosts in a URL that lists several: `redis://a:1,b:2/0` is `redis://a:1/0` and `redis://b:2/0`. */
export function urlsOfHosts(url: string): string[] {
  const [, before = '', hosts = '', after = ''] = /^(\w+:\/\/(?:[^/?]*@)?)([^/?]*)(.*)$/s.exec(url) ?? []
  return hosts.split(',').map((host) => before + host + after)
}
