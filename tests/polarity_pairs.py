# ruff: noqa: E501 - a pair a line
"""Makes the labelled set of opinions and facts that the rules of polarity are measured on; written for this project.

Each line: the entity's names, the opinion, a fact about the same entity. Even places of a list and the further pairs
were looked at while the rules were written; odd places and the last pairs were kept apart until the end. So it is with
the pairs in which one thing is set against another.
"""

from typing import NamedTuple

from vault_memory.reflect.polarity import CONTRADICTS, RELATED, SUPPORTS, UNRELATED


class Pair(NamedTuple):
    """An opinion, a fact, and what the fact says of it in the eyes of a careful reader."""

    label: str
    names: tuple[str, ...]
    opinion: str
    fact: str


_SUPPORTS = """
Peter | Prefers concise replies (<1500 chars) on WhatsApp; long content goes into files. | Peter asked for a shorter reply on WhatsApp; the long one went into a file.
Tomas, Tomas Ek | His quotes are honest; what goes over them is always rot. | His quote for the stairs was honest again, 200 kr under what was agreed.
Anna | Likes early meetings. | Anna asked for an early meeting again, half past seven.
Coffee | Coffee in the evening keeps me awake. | Had coffee after dinner and lay awake until three.
Ruff | Ruff is fast. | Ruff checked the whole tree in 0.4 s; quick as ever.
Lena | Hates phone calls. | Lena does not like being called on the phone and wrote instead.
Postgres | Postgres is reliable. | Postgres ran all year without a single crash, really dependable.
Night train | The night train to Vienna is worth it. | Took the night train to Vienna again; worth every euro.
Oat milk | Oat milk gives me heartburn. | Drank oat milk at Kim's and had heartburn within the hour.
Marta | Marta is always late. | Marta came twenty minutes late to the rehearsal.
Jo | Prefers tea over coffee. | Jo chose tea, although there was coffee.
Bakery | The bakery on the corner is expensive. | Paid 68 kr for one loaf at the bakery; far too dear.
Sven | Does not like surprises. | Sven hates surprises, he left the party we had hidden from him.
Kubernetes | Kubernetes is too complicated for us. | Lost another day to Kubernetes: a complicated setup for two containers.
Running | Running helps my back. | Back hurt all week; went running, and it was better at once.
Ida | Ida is honest about delays. | Ida told us honestly on Monday that she would need three more days.
Lisbon | Lisbon is loud in summer. | The nights in Lisbon were noisy in July.
Tobias | Works best in the morning. | Tobias finished the draft before nine; mornings are when he works best.
Grey Kettle | The grey kettle is unreliable. | The kettle failed again this morning.
Mum | Wants to be rung, not written to. | Mum was glad to be rung and said so.
Vim | Uses Vim for everything. | Still uses Vim, even for mail.
Dr Holm | Dr Holm explains things well. | Dr Holm explained the scan so well that I could draw it.
Bus 16 | Bus 16 is never on time. | Bus 16 came eleven minutes late.
Hanna | Drinks no alcohol. | Hanna never drinks alcohol, not even at weddings.
SQLite | SQLite is the right store for the tile index. | With SQLite as the store of the tile index p95 fell from 41 to 12 ms; the right decision.
Landlord | The landlord answers quickly. | The landlord answered within an hour, quick as always.
Felt roof | Felt was the right choice for the roof. | Rain all night and no noise: felt was the right choice.
Rasmus | Rasmus is good with children. | Rasmus built a den with the children all afternoon and they adored him; so good with them.
Standing desk | The standing desk is useless. | Sold the standing desk; it was no use.
Elif | Cannot stand garlic. | Elif sent the soup back because she hates garlic.
Tests | Slow tests cost us more than bugs. | Lost two hours today to slow tests.
Jonas | Gives up quickly. | Jonas gave up on the piano after a fortnight.
Cat | The cat is afraid of thunder. | Thunder at six, and the cat hid under the bed, afraid.
Garden | Tomatoes do well against the south wall. | Picked four kilos of tomatoes from the south wall; they do very well there.
Nadia | Nadia never forgets a birthday. | Nadia remembered my birthday again.
Budget | We spend too much on eating out. | Spent 4,200 on eating out in May, too much again.
Omar | Likes to plan trips far ahead. | Omar planned the trip to Oslo eight months ahead.
Hotel Adler | Hotel Adler is quiet. | Slept wonderfully at Hotel Adler, not a sound all night, so quiet.
Erik | Erik hardly ever replies to mail. | Three mails to Erik, no reply.
Swimming | Swimming before work is the best start of a day. | Swam before work; best start into a day for weeks.
Code review | Small pull requests get better reviews. | The small pull request got a careful review within the hour.
Migraine | Red wine brings on migraine. | Two glasses of red wine, then migraine the next day.
Klara | Klara is vegetarian. | Klara ordered the vegetarian dish, as always.
Tern | Measure before guessing with intermittent faults. | We measured first this time and found the intermittent fault in a day.
Ben | Ben trusts nobody with his tools. | Ben would not lend me his tools.
The Castle | The stove heats the room fast. | The stove had the room at 20 degrees in half an hour; it heats up fast.
Grandpa | Enjoys crossword puzzles. | Grandpa did two crossword puzzles before breakfast.
Invoice | Clients in Norway pay on time. | The client in Norway paid on time again.
Rust | Rust is hard to learn. | Third week of learning Rust and it is still difficult.
Mila | Mila wants slides without bullet points. | Mila asked for slides without bullet points again.
Piano | Practising twenty minutes a day is enough. | Twenty minutes a day were enough for the whole sonata.
Hospital | The hospital's phone line is useless. | Forty minutes in the queue of the hospital's phone line, useless.
Chess club | The chess club is friendly. | New people were welcomed warmly at the chess club, a friendly lot.
Petra | Petra prefers the window seat. | Petra took the window seat again.
Backup | Our backups work. | Restored the wiki from backup today; it worked without a hitch.
Yoga | Yoga calms me down. | Did yoga in the evening and was calm for hours.
Novel | The Long Shore is the best novel of the year. | Read The Long Shore a second time; still the best novel this year.
Weather app | The weather app is mostly wrong. | The weather app promised sun and it rained all day, wrong again.
Ola | Ola dislikes long meetings. | Ola left the long meeting after an hour, annoyed.
Cheese shop | The shop in Elm Street has the best cheese. | Bought cheese in Elm Street, the best we ever had.
Paul | Speaks fluent Spanish. | Paul spoke Spanish with the waiter, fluently.
Docker | Docker builds are slow on the laptop. | The Docker build took 25 minutes on the laptop, slow as treacle.
Sauna | Prefers the sauna at 80 degrees. | Sauna at 80 degrees, exactly as preferred.
Greta | Greta is careful with money. | Greta compared five offers before she paid a penny, careful as ever with money.
"""

_CONTRADICTS = """
Peter | Prefers concise replies on WhatsApp. | Peter no longer prefers concise replies; he wants the whole story.
Tomas, Tomas Ek | His quotes are honest. | The quote was dishonest: he had left out the scaffolding on purpose.
Anna | Likes early meetings. | Anna hates early meetings now.
Coffee | Coffee in the evening keeps me awake. | Drank coffee at nine in the evening and it did not keep me awake.
Ruff | Ruff is fast. | Ruff has become slow since the update.
Lena | Hates phone calls. | Lena said she likes phone calls these days.
Postgres | Postgres is reliable. | Postgres has been unreliable since the upgrade.
Night train | The night train to Vienna is worth it. | The night train to Vienna was not worth it this time.
Oat milk | Oat milk gives me heartburn. | Drank oat milk for a week and it gave me no heartburn.
Marta | Marta is always late. | Marta was on time for every rehearsal this month.
Jo | Prefers tea over coffee. | Jo prefers coffee over tea now.
Bakery | The bakery on the corner is expensive. | The bakery on the corner is cheap compared with the one in town.
Sven | Does not like surprises. | Sven loves surprises, it turns out.
Kubernetes | Kubernetes is too complicated for us. | The new Kubernetes setup is simple, even for us.
Running | Running helps my back. | Went running; running did not help my back at all.
Ida | Ida is honest about delays. | Ida lied about the delay.
Lisbon | Lisbon is loud in summer. | Lisbon was very quiet this summer.
Tobias | Works best in the morning. | Tobias no longer works in the morning; he works best at night.
Grey Kettle | The grey kettle is unreliable. | The kettle has been reliable for half a year.
Mum | Wants to be rung, not written to. | Mum does not want to be rung any more.
Vim | Uses Vim for everything. | Switched from Vim to Helix.
Dr Holm | Dr Holm explains things well. | Dr Holm explained it badly; I understood nothing.
Bus 16 | Bus 16 is never on time. | Bus 16 was on time all week.
Hanna | Drinks no alcohol. | Hanna drinks alcohol again since the summer.
SQLite | SQLite is the right store for the tile index. | SQLite was the wrong store for the tile index, the writers block each other.
Landlord | The landlord answers quickly. | The landlord answers slowly: nine days for one line.
Felt roof | Felt was the right choice for the roof. | Felt was the wrong choice; the roof leaks after two winters.
Rasmus | Rasmus is good with children. | Rasmus is bad with children, they cried.
Standing desk | The standing desk is useless. | The standing desk has been useful every day since the move.
Elif | Cannot stand garlic. | Elif loves garlic, she asked for more.
Rent | The rent is 9,000 kr a month. | The rent went up to 9,800 kr a month.
Jonas | Gives up quickly. | Jonas never gives up, he practised for three years.
Cat | The cat is afraid of thunder. | The cat is not afraid of thunder any more.
Garden | Tomatoes do well against the south wall. | The tomatoes did badly against the south wall this year.
Nadia | Nadia never forgets a birthday. | Nadia forgot my birthday.
Office | Everyone comes to the office on Tuesdays. | Nobody comes to the office on Tuesdays any more.
Omar | Likes to plan trips far ahead. | Omar dislikes planning trips ahead.
Hotel Adler | Hotel Adler is quiet. | Hotel Adler was noisy, lorries from five in the morning.
Erik | Erik hardly ever replies to mail. | Erik replies to every mail now.
Train | The train to Hamburg is better than flying. | Flying is better than the train to Hamburg, I have to admit.
Smoking | Smokes ten cigarettes a day. | Stopped smoking in March.
Migraine | Red wine brings on migraine. | Red wine no longer brings on migraine.
Klara | Klara is vegetarian. | Klara is no longer vegetarian.
Meat | Eats meat every day. | Gave up meat after the film.
Ben | Ben trusts nobody with his tools. | Ben trusts everyone with his tools now.
The Castle | The stove heats the room fast. | The stove heats the room slowly, two hours to 18 degrees.
Grandpa | Enjoys crossword puzzles. | Grandpa no longer enjoys crossword puzzles.
Invoice | Clients in Norway pay on time. | The client in Norway paid late again.
Rust | Rust is hard to learn. | Rust was easy to learn after all.
Mila | Mila wants slides without bullet points. | Mila wants slides with bullet points.
Sam | Lives in Bern. | Sam moved to Basel.
Hospital | The hospital's phone line is useless. | The hospital's phone line was very helpful today.
Chess club | The chess club is friendly. | The chess club was unfriendly to the new boy.
Petra | Petra prefers the window seat. | Petra prefers the aisle seat now.
Backup | Our backups work. | The backup failed: nothing could be restored.
Yoga | Yoga calms me down. | Yoga doesn't calm me down, I come home nervous.
Novel | The Long Shore is the best novel of the year. | The Long Shore is the worst novel I read this year.
Weather app | The weather app is mostly wrong. | The weather app was right every day of the trip.
Ola | Ola dislikes long meetings. | Ola enjoys long meetings, he stayed to the end.
Deadline | The release deadline is 3 March. | The release deadline is now 17 March.
Paul | Speaks fluent Spanish. | Paul does not speak Spanish, he only knows the menu.
Docker | Docker builds are slow on the laptop. | Docker builds are fast on the laptop since the cache works.
Car | The car is safe enough for winter. | The car is not safe in winter: the brakes pull left.
Greta | Greta is careful with money. | Greta is careless with money, 3,000 gone in a weekend.
"""

_UNRELATED = """
Peter | Prefers concise replies on WhatsApp. | Peter now lives in Lund.
Tomas, Tomas Ek | His quotes are honest; what goes over them is always rot. | Tomas is allergic to nuts.
Anna | Likes early meetings. | Anna does not like cheese.
Coffee | Coffee in the evening keeps me awake. | Bought a kilo of coffee from the roaster in Lund.
Ruff | Ruff is fast. | Ruff does not support Windows 7.
Lena | Hates phone calls. | Lena loves trains.
Postgres | Postgres is reliable. | Postgres runs on port 5433.
Night train | The night train to Vienna is worth it. | The conductor of the night train is called Roland.
Oat milk | Oat milk gives me heartburn. | Oat milk is sold out at the corner shop.
Marta | Marta is always late. | Marta bought a cello.
Jo | Prefers tea over coffee. | Jo never learnt to swim.
Bakery | The bakery on the corner is expensive. | The bakery on the corner is closed on Mondays.
Sven | Does not like surprises. | Sven does not eat fish.
Kubernetes | Kubernetes is too complicated for us. | Kubernetes 1.31 was released in August.
Running | Running helps my back. | New running shoes, size 43, 1,400 kr.
Ida | Ida is honest about delays. | Ida no longer works at the bank.
Lisbon | Lisbon is loud in summer. | Lisbon lies on seven hills.
Tobias | Works best in the morning. | Tobias has two brothers.
Grey Kettle | The grey kettle is unreliable. | The kettle holds 1.7 litres.
Mum | Wants to be rung, not written to. | Mum's knee is operated on in January.
Vim | Uses Vim for everything. | Vim was written by Bram Moolenaar.
Dr Holm | Dr Holm explains things well. | Dr Holm was ill; the appointment moved to November.
Bus 16 | Bus 16 is never on time. | Bus 16 stops at the hospital.
Hanna | Drinks no alcohol. | Hanna is not afraid of heights.
SQLite | SQLite is the right store for the tile index. | The licence of SQLite is public domain.
Landlord | The landlord answers quickly. | The landlord never wears a hat.
Felt roof | Felt was the right choice for the roof. | The right door of the shed hangs loose.
Rasmus | Rasmus is good with children. | Rasmus is bad at chess.
Standing desk | The standing desk is useless. | The standing desk is made of birch.
Elif | Cannot stand garlic. | Elif stands for election in May.
Rent | The rent is 9,000 kr a month. | The landlord painted the stairs.
Jonas | Gives up quickly. | Jonas gave me a book about bees.
Cat | The cat is afraid of thunder. | The cat does not eat dry food.
Garden | Tomatoes do well against the south wall. | The fence on the north side is rotten.
Nadia | Nadia never forgets a birthday. | Nadia never drinks milk.
Office | Everyone comes to the office on Tuesdays. | The office has no lift.
Omar | Likes to plan trips far ahead. | Omar's phone is not working.
Hotel Adler | Hotel Adler is quiet. | Hotel Adler has no parking.
Erik | Erik hardly ever replies to mail. | Erik's new address is Park Road 4.
Train | The train to Hamburg is better than flying. | My sister is better at chess than me.
Swimming | Swimming before work is the best start of a day. | The pool is closed until 3 May.
Migraine | Red wine brings on migraine. | The neurologist is called Dr Lind.
Klara | Klara is vegetarian. | Klara is no longer chair of the club.
Tern | Measure before guessing with intermittent faults. | Tern does not run on Windows.
Ben | Ben trusts nobody with his tools. | Nobody from the street came to Ben's party.
The Castle | The stove heats the room fast. | The west window of the castle is cracked.
Grandpa | Enjoys crossword puzzles. | Grandpa no longer drives at night.
Invoice | Clients in Norway pay on time. | Clients in Norway want the invoice in kroner.
Rust | Rust is hard to learn. | The bicycle chain is full of rust.
Mila | Mila wants slides without bullet points. | Mila wants a cat.
Sam | Lives in Bern. | Sam does not like hiking.
Hospital | The hospital's phone line is useless. | The hospital moved its kitchen to the cellar.
Chess club | The chess club is friendly. | The chess club costs 300 kr a year.
Petra | Petra prefers the window seat. | Petra broke the kitchen window.
Backup | Our backups work. | The backup disk is blue and stands in the cellar.
Yoga | Yoga calms me down. | The yoga teacher has moved to Spain.
Novel | The Long Shore is the best novel of the year. | The Long Shore has 412 pages.
Weather app | The weather app is mostly wrong. | The weather app costs 30 kr a month.
Ola | Ola dislikes long meetings. | Ola likes long walks.
Deadline | The release deadline is 3 March. | The release has 17 open tickets.
Paul | Speaks fluent Spanish. | Paul does not own a car.
Docker | Docker builds are slow on the laptop. | Docker has a blue whale as its logo.
Car | The car is safe enough for winter. | The car has 120,000 km on the clock.
Greta | Greta is careful with money. | Greta was born in Malmö in 1961.
Maja | Maja likes dinosaurs. | Her brother hates spinach.
Wifi | The wifi in the attic is slow. | The attic stairs are not safe.
"""

_RELATED = """
Peter | Prefers concise replies on WhatsApp. | Peter asked how many replies came on WhatsApp.
Tomas, Tomas Ek | His quotes are honest. | Asked for a quote for the stairs.
Anna | Likes early meetings. | Is it true that Anna likes early meetings?
Coffee | Coffee in the evening keeps me awake. | Maybe coffee in the evening does not keep me awake after all.
Sven | Does not like surprises. | Karin wonders whether Sven likes surprises.
Postgres | Postgres is reliable. | Talked about how reliable Postgres is.
Marta | Marta is always late. | Marta might be on time tomorrow.
Rust | Rust is hard to learn. | Bought a book to learn Rust.
Lisbon | Lisbon is loud in summer. | Would Lisbon be quieter in winter?
Hanna | Drinks no alcohol. | Plans to ask whether Hanna drinks alcohol.
Vim | Uses Vim for everything. | Thinking about trying Helix besides Vim.
Rent | The rent is 9,000 kr a month. | The rent may go up in spring.
Backup | Our backups work. | The test of the backups is planned for Friday.
Train | The train to Hamburg is better than flying. | Compared the train to Hamburg with flying in a table.
Klara | Klara is vegetarian. | Cooked a vegetarian dish for Klara's sister.
Mila | Mila wants slides without bullet points. | Sent Mila the slides.
Running | Running helps my back. | If running hurts my back I will stop.
The Castle | The stove heats the room fast. | Bought wood for the stove in the big room.
"""

_FURTHER = """
supports | Nora | Nora needs a day's notice for deployments. | Told Nora about the deployment a day before; she said again that a day's notice is what she needs.
supports | Harbour café | Service at the Harbour café is slow. | Waited 35 minutes for two coffees at the Harbour café, service as slow as ever.
supports | Uncle Leo | Uncle Leo exaggerates. | Uncle Leo exaggerated again: the pike was 60 cm, not a metre.
supports | Tile server | The tile server copes badly with restarts. | Restart at noon, and the tile server coped badly: ten minutes of errors.
supports | Freja | Freja learns best by doing. | Gave Freja the real saw; she learns best by doing, as the straight cut shows.
supports | Winter tyres | Studded tyres are worth the noise. | On the ice by the bridge the studded tyres were worth every bit of noise.
supports | Dentist | The dentist is gentle. | Filling at ten. The dentist was very gentle.
supports | Python | Type hints save us time. | The type hints found the wrong argument before the review did; saved us an hour of time.
supports | Mirko | Mirko prefers written questions. | Mirko asked me to send written questions, he prefers that.
supports | Elbe trail | The Elbe trail is easy for beginners. | Did the Elbe trail with two beginners, easy all the way.
supports | Grandma | Grandma likes being asked for advice. | Asked Grandma for advice on the plums; she loves being asked.
supports | Bank | The bank's app crashes a lot. | The app of the bank crashed twice while I paid the rent.
supports | Viktor | Viktor does not read long mails. | Viktor had not read my mail, it was too long.
supports | Lamp | The new lamp is too bright for reading. | Tried reading under the lamp once more: too bright.
supports | Salsa class | The salsa class is fun. | Third evening of the salsa class, great fun.
contradicts | Nora | Nora needs a day's notice for deployments. | Nora no longer needs a day's notice for deployments.
contradicts | Harbour café | Service at the Harbour café is slow. | New owner at the Harbour café, and service was quick.
contradicts | Uncle Leo | Uncle Leo exaggerates. | Measured it: Uncle Leo did not exaggerate.
contradicts | Tile server | The tile server copes badly with restarts. | The tile server coped well with three restarts.
contradicts | Freja | Freja sleeps through the night. | Freja did not sleep through the night once this week.
contradicts | Winter tyres | Studded tyres are worth the noise. | The studded tyres are not worth the noise in town.
contradicts | Dentist | The dentist is gentle. | The dentist was rough today, I bled for an hour.
contradicts | Python | Type hints waste our time. | The type hints did not waste our time, they found the bug.
contradicts | Mirko | Mirko prefers written questions. | Mirko does not like written questions any more, ring him.
contradicts | Elbe trail | The Elbe trail is easy for beginners. | Two beginners turned back: the Elbe trail is difficult.
contradicts | Grandma | Grandma likes being asked for advice. | Grandma is tired of it and hates being asked for advice.
contradicts | Bank | The bank's app crashes a lot. | The app of the bank has been stable since the update.
contradicts | Viktor | Viktor does not read long mails. | Viktor read the whole long mail and answered each point.
contradicts | Lamp | The new lamp is too bright for reading. | The lamp is too dark for reading.
contradicts | Parking | Parking in the old town is free on Sundays. | Parking in the old town is not free on Sundays any more.
contradicts | Gym | Goes to the gym three times a week. | Stopped going to the gym in autumn.
contradicts | Ada | Ada commutes by car. | Ada switched from the car to the train for her commute.
contradicts | Milk | The co-op has the cheapest milk. | The milk at the co-op is the most expensive in town now.
unrelated | Nora | Nora needs a day's notice for deployments. | Nora's daughter started school and does not like maths.
unrelated | Harbour café | Service at the Harbour café is slow. | The Harbour café has a fast new wifi.
unrelated | Uncle Leo | Uncle Leo exaggerates. | Uncle Leo never married.
unrelated | Tile server | The tile server copes badly with restarts. | The tile server was not moved to the new rack.
unrelated | Freja | Freja sleeps through the night. | Freja does not walk yet.
unrelated | Winter tyres | Studded tyres are worth the noise. | The studded tyres stand in the cellar, not in the shed.
unrelated | Dentist | The dentist is gentle. | The dentist's parking is always full and too expensive.
unrelated | Python | Type hints save us time. | Python 3.9 is no longer supported.
unrelated | Mirko | Mirko prefers written questions. | Mirko no longer lives above the bakery.
unrelated | Elbe trail | The Elbe trail is easy for beginners. | It was hard to find a bed near the Elbe trail in July.
unrelated | Grandma | Grandma likes being asked for advice. | Grandma does not like the new television.
unrelated | Bank | The bank's app crashes a lot. | The bank closed its branch in Mill Road, never mind.
unrelated | Viktor | Viktor does not read long mails. | Viktor does not eat lunch before one.
unrelated | Lamp | The new lamp is too bright for reading. | The lamp did not cost much, 129 kr.
unrelated | Parking | Parking in the old town is free on Sundays. | No shop in the old town is open on Sundays.
unrelated | Gym | Goes to the gym three times a week. | The gym closes three weeks in summer.
unrelated | Ada | Ada commutes by car. | Ada lost her car keys, no spare.
unrelated | Salsa class | The salsa class is fun. | The teacher of the salsa class never takes cash.
unrelated | Leo | Leo is good at chess. | Leo was bad company on Sunday.
unrelated | Leo | Leo is good at chess. | Leo had a bad cold.
unrelated | Mara | Mara is reliable. | Mara's car broke down on the bridge.
unrelated | Mara | Mara is fast. | Dinner at Mara's was slow and long.
unrelated | Mara | Mara is patient. | We were impatient at the desk; Mara paid.
unrelated | Mara | Mara likes short trips. | Mara hates long queues.
"""

_LAST = """
supports | Ellen | Ellen is always well prepared. | Ellen came well prepared, as always, with three printed copies.
supports | Ellen | Dislikes being interrupted. | Ellen hates it when she is interrupted.
supports | Ferry | The ferry is seldom on time. | The ferry left fifty minutes late again.
supports | Laptop | The laptop's battery is weak. | The laptop's battery was weak today as well, two hours and it was flat.
supports | Garlic soup | Garlic soup helps against a cold. | Cooked garlic soup for the cold, and it helped.
supports | Rina | Rina wants the window open at night. | Rina opened the window for the night again.
supports | Library | The library is the quietest place to work. | Worked in the library until six: nowhere is it as quiet.
supports | Otto | Otto trusts only paper tickets. | Otto printed his ticket on paper again, he does not trust the phone.
supports | Import job | The import job is slow on Mondays. | The import job took four hours on Monday, much too slow.
supports | Joan | Joan's estimates are accurate. | Joan's estimate for the migration was accurate to the hour.
supports | Cycling | Cycling to work clears my head. | Cycled to work in the rain; my head was clear by nine.
supports | Sourdough | Sourdough needs a cold night. | The sourdough had its cold night and rose well.
contradicts | Ellen | Ellen is always well prepared. | Ellen was badly prepared and had no copies.
contradicts | Ellen | Dislikes being interrupted. | Ellen likes being interrupted, she says it keeps her awake.
contradicts | Ferry | The ferry is seldom on time. | The ferry was on time every day of the week.
contradicts | Laptop | The laptop's battery is weak. | The laptop's new battery is strong.
contradicts | Garlic soup | Garlic soup helps against a cold. | Garlic soup did not help against the cold.
contradicts | Rina | Rina wants the window open at night. | Rina doesn't want the window open at night in winter.
contradicts | Library | The library is the quietest place to work. | The library was terribly noisy, no place to work.
contradicts | Otto | Otto trusts only paper tickets. | Otto no longer trusts paper tickets.
contradicts | Import job | The import job is slow on Mondays. | The import job is fast on Mondays since the index was added.
contradicts | Joan | Joan's estimates are accurate. | Joan's estimates were inaccurate: twelve days became thirty.
contradicts | Cycling | Cycling to work is safe. | Cycling to work is dangerous since the bridge was closed.
contradicts | Membership | The membership costs 300 kr a year. | The membership now costs 450 kr a year.
contradicts | Ruth | Ruth drinks her coffee black. | Ruth does not drink her coffee black any more.
contradicts | Ruth | Ruth prefers trains to planes. | Ruth prefers planes to trains since the strike.
contradicts | Hugo | Hugo works at the mill. | Hugo no longer works at the mill.
unrelated | Ellen | Ellen is always well prepared. | Ellen is not well, she has a fever.
unrelated | Ellen | Dislikes being interrupted. | Ellen does not take sugar.
unrelated | Ferry | The ferry is seldom on time. | The ferry was painted white and has no bar any more.
unrelated | Laptop | The laptop's battery is weak. | The laptop has no German keyboard.
unrelated | Garlic soup | Garlic soup helps against a cold. | Garlic soup is cold soup in Spain, and not expensive.
unrelated | Rina | Rina wants the window open at night. | Rina never wants dessert.
unrelated | Library | The library is the quietest place to work. | The library does not lend films any more.
unrelated | Otto | Otto trusts only paper tickets. | Otto gave up smoking.
unrelated | Import job | The import job is slow on Mondays. | The import job does not read the old format.
unrelated | Joan | Joan's estimates are accurate. | Joan's flat is badly heated.
unrelated | Cycling | Cycling to work clears my head. | Cycling gloves cost 300 kr.
unrelated | Membership | The membership costs 300 kr a year. | The membership has 3 levels, and the form has 2 pages.
unrelated | Ruth | Ruth drinks her coffee black. | Ruth's black cat is not afraid of dogs.
unrelated | Ruth | Ruth prefers trains to planes. | Ruth prefers not to say how old she is.
unrelated | Hugo | Hugo works at the mill. | Hugo does not like the new road.
unrelated | Sourdough | Sourdough needs a cold night. | Wrote the sourdough recipe down for Kim; the kitchen scale is broken.
"""

_CONTRAST = """
supports | Greta | Prefers letters. | Greta again: letters preferred, not calls.
supports | Greta | Letters preferred, not calls. | Greta prefers letters and answers each of them.
contradicts | Greta | Prefers calls. | Greta wants letters, not calls.
contradicts | Greta | Likes calls. | Greta prefers letters to calls.
supports | Arvid | Wants files, not screenshots. | Arvid asked for files instead of screenshots.
supports | Arvid | Likes files over screenshots. | Arvid was glad to get files rather than screenshots.
contradicts | Arvid | Likes screenshots. | Arvid likes files, not screenshots.
contradicts | Arvid | Arvid prefers dark themes. | Arvid prefers light themes, not dark ones.
supports | Selma | Likes olives. | Selma likes not only olives but capers as well.
supports | Selma | Selma likes capers. | Selma likes not only olives but also capers.
contradicts | Selma | Selma drinks coffee. | Selma drinks tea instead of coffee now.
contradicts | Selma | Selma drinks beer. | Selma drinks cider, not beer.
supports | Selma | Selma drinks cider. | Selma drinks cider, not beer.
supports | Tuomas | Tuomas prefers the train. | Rather than the plane Tuomas wants the train.
unrelated | Tuomas | Tuomas prefers the train. | Tuomas keeps rabbits, not hens.
unrelated | Tuomas | Tuomas is punctual. | Tuomas brought rye bread rather than cake.
supports | Tuomas | Tuomas likes the night train. | Tuomas likes the night train, not the plane, for long trips.
supports | Tuomas | Tuomas hates planes. | Tuomas hates planes, not trains.
contradicts | Tuomas | Tuomas likes evenings. | Tuomas prefers mornings over evenings.
contradicts | Tuomas | Tuomas trusts the app. | Tuomas trusts the paper map, not the app.
supports | Old kiln | The old kiln is reliable. | The old kiln is reliable, not fast.
supports | Old kiln | The old kiln is slow. | The old kiln is reliable rather than fast.
contradicts | Old kiln | The old kiln is fast. | The old kiln is reliable, not fast.
contradicts | Old kiln | The old kiln is cheap. | The old kiln is sturdy, not cheap.
unrelated | Old kiln | The old kiln is reliable. | The old kiln stands in the yard, not in the shed.
unrelated | Old kiln | The old kiln is fast. | The old kiln takes birch instead of beech.
supports | Choir | The choir is loud. | The choir is not only loud but off key.
supports | Choir | The choir sings in Latin. | The choir sings in Latin, not in Swedish.
contradicts | Choir | The choir sings in Swedish. | The choir sings in Latin, not in Swedish.
contradicts | Choir | The choir meets on Mondays. | The choir meets on Thursdays rather than on Mondays.
unrelated | Choir | The choir is loud. | The choir wears blue, not black.
unrelated | Choir | The choir needs tenors. | The choir had soup instead of dinner.
"""


_JUDGED = """
contradicts | Team | Friday releases are fine. | Friday releases are a bad idea.
contradicts | Team | Friday releases are fine | Friday releases are wrong
contradicts | Team | Friday releases are fine | Friday releases were a mistake
supports | Team | Friday releases are a bad idea. | Friday releases are a mistake.
contradicts | Team | Our estimates are too optimistic. | Our estimates can be trusted.
contradicts | Team | Our estimates can be trusted. | The estimates are far too optimistic again.
contradicts | Jonas | Jonas's estimates can be trusted. | Jonas's estimates are too optimistic.
contradicts | Felt | Felt was a mistake for the roof. | Felt was the right choice for the roof.
contradicts | Mara | Mara can be trusted with money. | Mara cannot be trusted with money.
contradicts | Old pump | The old pump is reliable. | The old pump can't be trusted any more.
supports | Old pump | The old pump is unreliable. | The old pump cannot be trusted.
contradicts | Cellar | The cellar walls are sound. | The cellar walls are in a bad state.
contradicts | Backup plan | The backup plan is sound. | The backup plan is bad.
unrelated | Mara | Mara can be trusted with money. | Mara has a bad cold.
unrelated | Team | Friday releases are fine. | Paid a fine on Friday.
unrelated | Jonas | Jonas's estimates are too optimistic. | Jonas is fine again.
unrelated | Old pump | The old pump is reliable. | The old pump was a bad red.
unrelated | Tern | Tern is the right tool for the tiles. | Tern's logo is a mistake.
related | Jonas | Jonas is fine with short notice. | Jonas may be fine with short notice.
supports | Team | Working from home is fine on Mondays. | Worked from home on Monday, a good idea again.
contradicts | Team | Meetings without notes are fine. | Meetings without notes are a bad idea.
"""


def _pairs(label: str, table: str) -> list[Pair]:
    rows = [[cell.strip() for cell in line.split(" | ")] for line in table.strip().splitlines()]
    return [Pair(label, tuple(names.split(", ")), opinion, fact) for names, opinion, fact in rows]


def _labelled(table: str) -> list[Pair]:
    rows = [line.partition(" | ") for line in table.strip().splitlines()]
    return [pair for label, _, rest in rows for pair in _pairs(label, rest)]


_FIRST = [
    _pairs(SUPPORTS, _SUPPORTS),
    _pairs(CONTRADICTS, _CONTRADICTS),
    _pairs(UNRELATED, _UNRELATED),
    _pairs(RELATED, _RELATED),
]
CONTRAST = _labelled(_CONTRAST)
DEVELOPMENT = [pair for pairs in (*_FIRST, CONTRAST) for pair in pairs[::2]] + _labelled(_FURTHER + _JUDGED)
KEPT_APART = [pair for pairs in (*_FIRST, CONTRAST) for pair in pairs[1::2]] + _labelled(_LAST)
PAIRS = DEVELOPMENT + KEPT_APART
