"""What every site is built from. How to write one:

1. A folder `sites/<name>/` with `__init__.py` that exports `SITE = PageSite(...)` (page_site.py).
2. `routes.py`: a tuple of `Route` (routing.py), one a line: method, pattern, name, page function. Patterns are
   `/orders/{number:digits}`; converters are int, digits, slug and word. `needs="customer"` or `needs="admin"` sends
   others to the log-in page. The table is data: the parity and crawler tests walk it.
3. Page functions take a `Page` (page.py) and return its `render`, `go`, `refuse` or `not_found`:

       def contact(page: Page) -> SiteResponse:
           return page.render("contact.html", draft=page.draft())

       def send(page: Page) -> SiteResponse:                    # POST: always `go` or `refuse`, both answer 303
           form = Form(page.request.form)                       # forms.py: reads, checks, collects what is wrong
           body = form.text("body", "Message", limit=2000)
           if form.errors:
               return page.refuse(form, "/contact")             # the draft and its errors wait in scratch for the GET
           page.db.write("INSERT ...", body, page.now.time)     # rows carry session time, never a clock's
           page.flash("Thank you. We answer within two working days.")
           return page.go("/contact")

4. `templates/`: Jinja, autoescaped, an unknown name is an error. `layout.html` extends `skeleton.html` and says
   `{% import "macros.html" as ui with context %}`; every page extends it, fills its blocks `name` and `main`, and has
   `ui` from it (importing costs time, so once). Forms are `{% call ui.form("/contact") %}`, which carry the one-use
   token by themselves. No tag or attribute outside the
   vocabulary (vocabulary.py): a lint in the tests reads every template and every rendered page.
5. `theme.css`: the site's variables and what is its own; the common rules are `sites/static/base.css`. No
   `text-transform`, no non-empty `content`, no `display: none` but `[hidden]`: they would leak into the
   accessibility tree. Never change the `display` of what lies inside a link, button, heading or cell.

Pages are pure: the same request on the same database, scratch and time gives the same bytes.
"""
