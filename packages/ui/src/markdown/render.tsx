import type { Token } from 'markdown-it'
import type { ComponentChildren, VNode } from 'preact'
import { h, isValidElement } from 'preact'
import { useState } from 'preact/hooks'
import { LongText } from '../components/long-text.js'
import { CodeBlock } from './code.js'
import type { Block, Task } from './document.js'
import { isOwnFile } from './links.js'
import { attribute, infoOf } from './parser.js'
import type { Part } from './parts.js'

/**
 * A link to elsewhere, which opens beside the page and learns nothing of it.
 * @param title is shown behind it, as models read it
 * @param isAddress whether it shows its address anyway
 */
export const Link = ({
  href,
  title,
  isAddress = false,
  children,
}: {
  href: string
  title?: string
  isAddress?: boolean
  children: ComponentChildren
}) => (
  <>
    <a href={href} data-address={isAddress ? undefined : href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
    {title && <span class="muted"> ({title})</span>}
  </>
)

/** Characters of the address of a picture without a name. Many may have the same address, which the text has once. */
const ADDRESS_LENGTH = 100

/** Characters of the address of a picture that is shown; that of a file has some 200. */
const MOST_ADDRESS = 1_000

/** A picture of the platform's own files; of others, and beyond what a document may have, a link, so that no other host learns who reads. */
function Picture({ src, title, alt, isLink }: { src: string; title: string; alt: string; isLink: boolean }) {
  // Such as one whose URL is not good any more.
  const [isLost, setLost] = useState(false)
  return (
    <Link href={src} title={title}>
      {!isLink && !isLost && src.length <= MOST_ADDRESS && isOwnFile(src) ? (
        <>
          <img src={src} alt={alt || 'Picture'} loading="lazy" onError={() => setLost(true)} />
          {/* Models read it. */}
          {alt && <span class="small muted">{alt}</span>}
        </>
      ) : (
        alt || src.slice(0, ADDRESS_LENGTH)
      )}
    </Link>
  )
}

/** Whether an item of a list has paragraphs, which stand apart, or other blocks. By a class: `:has()` makes the browser style all of a text anew that grows. */
function itemKind(children: ComponentChildren[]): string | undefined {
  const types = children.flat().map((child) => isValidElement(child) && child.type)
  if (types.includes('p')) return 'loose'
  return types.some((type) => type === 'ul' || type === 'ol' || type === 'div' || type === CodeBlock)
    ? 'nested'
    : undefined
}

/** The element of a token that has others within it. */
function element(token: Token, children: ComponentChildren[]): ComponentChildren {
  const { type, tag, hidden } = token
  const meta = token.meta as Task | null
  switch (type) {
    case 'heading_open':
      // Below the headings of the page and of the panel.
      return h(`h${Math.min(6, Number(tag[1]) + 2)}`, { class: tag }, children)
    case 'paragraph_open':
      return hidden ? children : <p>{children}</p>
    case 'ordered_list_open':
      return <ol start={Number(attribute(token, 'start') || 1)}>{children}</ol>
    case 'list_item_open':
      if (!meta) return <li class={itemKind(children)}>{children}</li>
      return (
        <li class="task">
          <input type="checkbox" checked={meta.isDone} disabled aria-label={meta.isDone ? 'Done' : 'To do'} />
          <div>{children}</div>
        </li>
      )
    case 'table_open':
      return (
        <div class="scroll" role="group" aria-label="Table" tabIndex={0}>
          <table>{children}</table>
        </div>
      )
    case 'th_open':
    case 'td_open':
      return h(tag, { class: attribute(token, 'style').replace('text-align:', '') }, children)
    case 'link_open': {
      const href = attribute(token, 'href')
      const isEmpty = children.length === 0
      return (
        <Link
          href={href}
          title={attribute(token, 'title')}
          isAddress={isEmpty || /^(?:autolink|linkify)$/.test(token.markup)}
        >
          {isEmpty ? href : children}
        </Link>
      )
    }
    default:
      return h(tag, null, children)
  }
}

/** A block of code, with what stands behind its language. */
function Code({ token }: { token: Token }) {
  const { language, more } = infoOf(token)
  return (
    <>
      {more && <p class="small muted">{more}</p>}
      <CodeBlock code={token.content.replace(/\n$/, '')} language={language} />
    </>
  )
}

/** What a token that has none within it is shown as. */
function leaf(token: Token): ComponentChildren {
  switch (token.type) {
    case 'inline':
      return tree(token.children!)
    case 'code_inline':
      return <code>{token.content}</code>
    case 'fence':
    case 'code_block':
      return <Code token={token} />
    case 'softbreak':
    case 'hardbreak':
      return <br />
    case 'hr':
      return <hr />
    case 'image':
      return (
        <Picture
          src={attribute(token, 'src')}
          title={attribute(token, 'title')}
          alt={token.content}
          isLink={token.hidden}
        />
      )
    default:
      return token.content
  }
}

function tree(tokens: readonly Token[]): ComponentChildren[] {
  const open: { token: Token; before: ComponentChildren[] }[] = []
  let children: ComponentChildren[] = []
  for (const token of tokens)
    if (token.nesting === 1) {
      open.push({ token, before: children })
      children = []
    } else if (token.nesting === -1) {
      const { token, before } = open.pop()!
      before.push(element(token, children))
      children = before
    } else children.push(leaf(token))
  return children
}

const made = new WeakMap<Block | Part, VNode>()

/** The same object each time, so that what does not change costs nothing. */
function once(of: Block | Part, make: () => VNode): VNode {
  const vnode = made.get(of) ?? make()
  made.set(of, vnode)
  return vnode
}

/** A block as it is shown. */
export const shown = (block: Block): VNode =>
  once(block, () =>
    block.tokens.length > 0 ? (
      <>{tree(block.tokens)}</>
    ) : (
      <p class="text">
        <LongText text={block.source} />
      </p>
    ),
  )

/** A part of a text as it is shown. */
export const shownPart = (part: Part): VNode => once(part, () => <div class="markdown">{part.map(shown)}</div>)
