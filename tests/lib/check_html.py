#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges a report: well nested, self-contained, nothing in it that runs or loads. Prints what is
wrong, one line each, and the page's text to the file named second. usage: check_html.py PAGE TEXT"""
import html.parser
import re
import sys

VOID = {"meta", "line", "rect"}  # rect and line close themselves or hold a title
ALLOWED = {"html", "head", "meta", "title", "style", "body", "main", "header", "section", "footer", "h1", "h2",
           "h3", "p", "b", "i", "pre", "code", "dl", "div", "dt", "dd", "span", "small", "table", "thead",
           "tbody", "tr", "th", "td", "details", "summary", "figure", "figcaption", "svg", "rect", "line", "ol",
           "li", "time"}
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "id", "scope", "colspan", "title",
              "viewbox", "preserveaspectratio", "role", "aria-label", "x", "y", "x1", "x2", "y1", "y2", "width",
              "height"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.stack, self.faults, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in ALLOWED:
            self.faults.append("element " + tag)
        for name, value in attrs:
            if name not in ATTRIBUTES:
                self.faults.append("attribute %s of %s" % (name, tag))
            if name == "class" and not re.fullmatch(r"[a-z -]*", value):
                self.faults.append("class " + value)
        if tag != "meta":
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.stack or self.stack[-1] != tag:
            self.faults.append("</%s> in %s" % (tag, "/".join(self.stack[-3:])))
        else:
            self.stack.pop()

    def handle_data(self, data):
        if "style" not in self.stack:
            self.text.append(data)

    def handle_comment(self, data):
        self.faults.append("comment " + data[:40])


def main():
    with open(sys.argv[1], encoding="utf-8") as stream:
        source = stream.read()
    page = Page()
    page.feed(source)
    page.close()
    if page.stack:
        page.faults.append("open: " + "/".join(page.stack))
    style = source[source.index("<style>"):source.index("</style>")]
    if re.search(r"url\(|@import|expression", style):
        page.faults.append("a style that loads")
    if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", source):
        page.faults.append("a control character")
    print("\n".join(sorted(set(page.faults))), end="")
    with open(sys.argv[2], "w", encoding="utf-8") as stream:
        stream.write(" ".join(" ".join(page.text).split()))


main()
