import { Dialog, Segmented } from '@turnpike/ui'
import { CodeBlock } from '@turnpike/ui/markdown/code'
import { useState } from 'preact/hooks'
import type { Language } from './code.js'
import { codeOf, languages, readable } from './code.js'
import type { Body } from './request.js'

/** Requests as programs that send them, with a key of the reader's. @param bodies one for each model */
export function CodeDialog({ bodies, onClose }: { bodies: readonly Body[]; onClose: () => void }) {
  const [language, setLanguage] = useState<Language>('bash')
  const [at, setAt] = useState(0)
  const body = bodies[at]!
  // The page is beside the gateway, wherever they are served.
  const code = codeOf(language, body, new URL('v1', location.href).href)
  return (
    <Dialog title="Code" onClose={onClose}>
      <div class="spread">
        <Segmented label="Language" options={languages} value={language} onChange={setLanguage} />
        {bodies.length > 1 && (
          <Segmented
            label="Model"
            options={bodies.map(({ model }, i) => [String(i), model] as const)}
            value={String(at)}
            onChange={(value) => setAt(Number(value))}
          />
        )}
      </div>
      <div class="markdown">
        <CodeBlock key={`${language} ${at}`} code={readable(code)} copies={code} language={language} />
      </div>
      <p class="small muted">
        Set <code>GATEWAY_KEY</code> to a key of yours. The playground also sends <code>X-Gateway-Explain: true</code>,
        to be told the provider and the cost.
        {readable(code) !== code && ' Pictures are cut short here; what is copied has all of them.'}
      </p>
    </Dialog>
  )
}
