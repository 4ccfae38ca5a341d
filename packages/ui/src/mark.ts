/** A bar across a road: the path of the mark in a box of 20 by 20, drawn with a stroke of 2. */
export const MARK = 'M4 18V3M2 18h4M4 7h14M8 4.5v5M12.5 4.5v5M17 4.5v5'
