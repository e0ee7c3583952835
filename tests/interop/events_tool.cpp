// events_tool FOLDER: writes the scalars on standard input, "tag step value wall_time" a line, as
// an event file.
#include <iostream>
#include <sstream>

#include "headway/view/tensorboard.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  headway::EventWriter events(argv[1]);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string tag, step, value, wall_time_s;  // std::stod reads nan and inf, >> does not
    words >> tag >> step >> value >> wall_time_s;
    events.scalar(tag, std::stoll(step), std::stod(value), std::stod(wall_time_s));
  }
  events.close();
}
