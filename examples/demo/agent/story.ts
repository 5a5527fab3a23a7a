/** Long enough to reload, to stop it, or to kill something while it is told. */
export const story = `Once there was a ferry that crossed the same sound every morning and every night, and between crossings it was held to its pier by a single rope.

The rope was old and not proud. It had been spliced in three places, and each splice had a date: the winter the ice came early, the autumn of the long gale, the night the pier itself moved. Nobody had written the dates down. The rope knew them, because at each it had held.

One night the tide turned harder than the almanac said it would. The ferry leaned into the dark. The harbour lights went out one after another, first the far mole, then the fish hall, then the lamp over the ticket window, until there was nothing to see by and nobody awake to look.

The captain was asleep. The engineer had gone to another town. A young hand who was meant to keep the watch had sat down for a moment at eleven, and it was now past two.

The rope did not know any of this. It knew the weight at one end and the bollard at the other. When the weight came, it held; when the weight went, it rested; and between the two it kept its place.

At half past three the pier shuddered and a plank went. The rope slid one hand's width and caught again. It did not start over from the beginning. It held from exactly where it was.

In the morning the captain came down with her coffee and found the ferry where she had left it, a little wet, pointing slightly further to the north. She looked at the missing plank, and at the rope, and she ran her thumb along it until she felt the new worn place.

"What happened here?" asked the young hand.

"Everything," said the captain. "And in order."

Then she cast off, and they made the first crossing on time.`;
