/** What is drawn of something that is not there yet: how many blocks, in which class of `styles.css`. */
const blocks = { rows: 5, cards: 6, figures: 5, text: 3 }

/** What something looks like: rows of a list, cards, figures, or lines of text. */
export type Shape = keyof typeof blocks

/** The outlines of something that is being read, or that is not there yet. Screen readers do not hear of them. */
export const Skeleton = ({ shape, still = false }: { shape: Shape; still?: boolean }) => (
  <div class={`skeleton ${shape} ${still ? 'still' : ''}`} aria-hidden="true">
    {Array.from({ length: blocks[shape] }, (_, i) => (
      <span key={i} />
    ))}
  </div>
)
