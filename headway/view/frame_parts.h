#pragma once

#include <string>
#include <vector>

#include "headway/doctor/diagnose.h"
#include "headway/view/canvas.h"

namespace headway {

// Inside view/: what the live frames of a run on Headway and of a watched process have in common.

std::string repeated(std::string_view glyph, int n);
std::string percent(double share);
// That share of `whole`, from none of it to all; none of what is no number.
int part_of(double share, int whole);

// What is watched on the left, for how long on the right, the verdict below; gives the next row.
int put_head(Canvas& canvas, const std::string& what, double seconds, const Verdict& verdict);
// "######......"
void put_meter(Canvas& canvas, int x, int y, int width, double share, Ink ink);
// Severity, summary, evidence and fix, as many as there is room for.
void put_findings(Canvas& canvas, int y, const std::vector<Finding>& findings);
std::string text_of(const Canvas& canvas, bool color);

}  // namespace headway
